import { banRecordWithoutFuture, NO_BAN_RECORD } from '../domain/ban.js'
import type { Account } from '../domain/keys.js'
import { usageWithoutFuture } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'

/** Limits memory. @source docs/behaviour.md, "requests without a valid key" */
const MAX_STRANGERS = 10_000

type Kind = 'key' | 'stranger'

export interface SavedAccount extends Readonly<Account> {
  readonly kind: Kind
  readonly name: string
}

/** Null: no account existed. */
export interface AccountBefore {
  readonly kind: Kind
  readonly name: string
  readonly account: Account | null
}

/** The accounts of a space: permanent for known keys, and for strangers while there is room. */
export class Accounts {
  readonly #accounts = { key: new Map<string, Account>(), stranger: new Map<string, Account>() }
  /** The account before each change, while a verb runs. */
  journal: AccountBefore[] | undefined

  constructor(saved: readonly SavedAccount[] = []) {
    for (const { kind, name, usage, bans } of saved) this.#accounts[kind].set(name, { usage, bans })
  }

  /** Does not open an account. */
  view(key: string): Readonly<Account> {
    return this.#accounts.key.get(key) ?? open()
  }

  forKey(key: string): Account {
    const account = this.#accounts.key.get(key)
    if (account !== undefined) return account
    const opened = open()
    this.#accounts.key.set(key, opened)
    return opened
  }

  /** @param name an address, or the digest of a token */
  forStranger(name: string): Account {
    const { stranger: strangers } = this.#accounts
    const account = strangers.get(name) ?? open()
    strangers.delete(name)
    strangers.set(name, account)
    if (strangers.size > MAX_STRANGERS) {
      const [oldest] = strangers.keys()
      if (oldest !== undefined) strangers.delete(oldest)
    }
    return account
  }

  save(): readonly SavedAccount[] {
    return (['key', 'stranger'] as const).flatMap((kind) =>
      Array.from(this.#accounts[kind], ([name, { usage, bans }]) => ({ kind, name, usage, bans })),
    )
  }

  keys(): readonly string[] {
    return [...this.#accounts.key.keys()]
  }

  /** Null removes it. */
  put({ kind, name, account }: AccountBefore): void {
    const accounts = this.#accounts[kind]
    const before = accounts.get(name)
    this.journal?.push({ kind, name, account: before === undefined ? null : { ...before } })
    if (account === null) accounts.delete(name)
    else accounts.set(name, { ...account })
  }

  change(key: string, changes: Partial<Account>): void {
    this.put({ kind: 'key', name: key, account: { ...this.view(key), ...changes } })
  }

  /** The clock was set back: windows and bans that began later are over. */
  forgetFuture(now: EpochMs): void {
    for (const { kind, name, usage, bans } of this.save())
      this.put({
        kind,
        name,
        account: { usage: usageWithoutFuture(usage, now), bans: banRecordWithoutFuture(bans, now) },
      })
  }
}

function open(): Account {
  return { usage: {}, bans: NO_BAN_RECORD }
}
