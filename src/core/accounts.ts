import { banRecordWithoutFuture, isRetryWindowOpen, NO_BAN_RECORD } from '../domain/ban.js'
import type { Account } from '../domain/keys.js'
import { usageWithoutFuture } from '../domain/quota.js'
import type { SnapshotAccount } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'

/** Limits memory. @source docs/behaviour.md, "requests without a valid key" */
const MAX_STRANGERS = 10_000

/** The accounts of a space: permanent for known keys, and for strangers while there is room. */
export class Accounts {
  readonly #accounts = { key: new Map<string, Account>(), stranger: new Map<string, Account>() }
  /** Part of an earlier state too: to be copied before a change. */
  isShared = false

  constructor(saved: readonly SnapshotAccount[] = []) {
    for (const { kind, name, usage, bans, early = [] } of saved)
      this.#accounts[kind].set(name, { usage, bans, early: [...early] })
  }

  copy(): Accounts {
    return new Accounts(this.save())
  }

  has(key: string): boolean {
    return this.#accounts.key.has(key)
  }

  remove(key: string): void {
    this.#accounts.key.delete(key)
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

  save(): readonly SnapshotAccount[] {
    return (['key', 'stranger'] as const).flatMap((kind) =>
      Array.from(this.#accounts[kind], ([name, { usage, bans, early }]) => ({
        ...{ kind, name, usage, bans },
        ...(early.length > 0 && { early: [...early] }),
      })),
    )
  }

  change(key: string, changes: Partial<Account>): void {
    this.#accounts.key.set(key, { ...this.view(key), ...changes })
  }

  /** The clock was set back: windows and bans that began later are over, and early requests that had stopped counting. */
  forgetFuture(before: EpochMs, now: EpochMs, wall: EpochMs): void {
    for (const accounts of Object.values(this.#accounts))
      for (const account of accounts.values()) {
        account.usage = usageWithoutFuture(account.usage, now)
        account.bans = banRecordWithoutFuture(account.bans, now)
        account.early = account.early.filter(
          (one) => isRetryWindowOpen(one, before, wall) && isRetryWindowOpen(one, now, wall),
        )
      }
  }
}

function open(): Account {
  return { usage: {}, bans: NO_BAN_RECORD, early: [] }
}
