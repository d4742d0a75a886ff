import { banRecordWithoutFuture, isRetryWindowOpen, NO_BAN_RECORD } from '../domain/ban.js'
import type { Account, AccountId } from '../domain/keys.js'
import { usageWithoutFuture } from '../domain/quota.js'
import type { SnapshotAccount } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'

/** Limits memory. @source docs/behaviour.md, "requests without a valid key" */
const MAX_STRANGERS = 10_000

const UNUSED: Account = { usage: {}, bans: NO_BAN_RECORD, early: [] }

/** Accounts as everybody may use them: only the commit of a space changes one. */
export type AccountsView = Omit<Accounts, 'put' | 'isShared'>

/** The accounts of a space: permanent for known keys, and for strangers while there is room. */
export class Accounts {
  readonly #accounts = { key: new Map<string, Account>(), stranger: new Map<string, Account>() }
  /** Part of an earlier state too: to be copied before a change in place. */
  isShared = false

  constructor(saved: readonly SnapshotAccount[] = []) {
    for (const { kind, name, usage, bans, early = [] } of saved) this.#accounts[kind].set(name, { usage, bans, early })
  }

  copy(): Accounts {
    const copy = new Accounts()
    for (const kind of ['key', 'stranger'] as const)
      for (const [name, account] of this.#accounts[kind]) copy.#accounts[kind].set(name, account)
    return copy
  }

  has(key: string): boolean {
    return this.#accounts.key.has(key)
  }

  keys(): readonly string[] {
    return [...this.#accounts.key.keys()]
  }

  view({ kind, name }: AccountId): Account {
    return this.#accounts[kind].get(name) ?? UNUSED
  }

  ofKey(name: string): Account {
    return this.view({ kind: 'key', name })
  }

  /** In place: only the commit of a space calls it. The stranger that was charged longest ago makes room. */
  put({ kind, name }: AccountId, account: Account): void {
    const accounts = this.#accounts[kind]
    if (kind === 'stranger') accounts.delete(name)
    accounts.set(name, account)
    if (kind === 'key' || accounts.size <= MAX_STRANGERS) return
    const [oldest] = accounts.keys()
    if (oldest !== undefined) accounts.delete(oldest)
  }

  withKeys(changes: ReadonlyMap<string, Partial<Account>>): AccountsView {
    const copy = this.copy()
    for (const [name, change] of changes) copy.put({ kind: 'key', name }, { ...this.ofKey(name), ...change })
    return copy
  }

  withoutKey(name: string): AccountsView {
    const copy = this.copy()
    copy.#accounts.key.delete(name)
    return copy
  }

  /** The clock was set back: windows and bans that began later are over, and early requests that had stopped counting. */
  withoutFuture(before: EpochMs, now: EpochMs, wall: EpochMs): AccountsView {
    const copy = new Accounts()
    for (const kind of ['key', 'stranger'] as const)
      for (const [name, { usage, bans, early }] of this.#accounts[kind])
        copy.#accounts[kind].set(name, {
          usage: usageWithoutFuture(usage, now),
          bans: banRecordWithoutFuture(bans, now),
          early: early.filter(
            (earlyRequest) =>
              isRetryWindowOpen(earlyRequest, before, wall) && isRetryWindowOpen(earlyRequest, now, wall),
          ),
        })
    return copy
  }

  save(): readonly SnapshotAccount[] {
    return (['key', 'stranger'] as const).flatMap((kind) =>
      Array.from(this.#accounts[kind], ([name, { usage, bans, early }]) => ({
        ...{ kind, name, usage, bans },
        ...(early.length > 0 && { early }),
      })),
    )
  }
}
