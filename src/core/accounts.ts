import { banRecordWithoutFuture, NO_BAN_RECORD } from '../domain/ban.js'
import type { Account } from '../domain/callers.js'
import { usageWithoutFuture } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'

/** Addresses and unknown tokens that are remembered, so that a flood of them cannot exhaust memory. @source docs/behaviour.md, "requests without a valid key" */
const STRANGERS_REMEMBERED = 10_000

/** The accounts of a space: permanent for known keys, and for strangers while there is room. */
export class Accounts {
  readonly #known = new Map<string, Account>()
  readonly #strangers = new Map<string, Account>()

  /** What is known of a key, for who only looks: nothing is opened. */
  view(key: string): Account {
    return this.#known.get(key) ?? open()
  }

  ofKey(key: string): Account {
    const account = this.#known.get(key)
    if (account !== undefined) return account
    const opened = open()
    this.#known.set(key, opened)
    return opened
  }

  /** @param name an address, or the digest of a token; the least recently seen one makes room */
  ofStranger(name: string): Account {
    const account = this.#strangers.get(name) ?? open()
    this.#strangers.delete(name)
    this.#strangers.set(name, account)
    if (this.#strangers.size > STRANGERS_REMEMBERED) {
      const [oldest] = this.#strangers.keys()
      if (oldest !== undefined) this.#strangers.delete(oldest)
    }
    return account
  }

  *entries(): Generator<{ readonly kind: 'key' | 'stranger'; readonly name: string; readonly account: Account }> {
    for (const [name, account] of this.#known) yield { kind: 'key', name, account }
    for (const [name, account] of this.#strangers) yield { kind: 'stranger', name, account }
  }

  /** Puts an account in the place of the one that is there. */
  set(kind: 'key' | 'stranger', name: string, account: Account): void {
    const accounts = kind === 'key' ? this.#known : this.#strangers
    accounts.set(name, account)
  }

  /** The same accounts, but for those of some keys. */
  without(keys: readonly string[]): Accounts {
    const others = new Accounts()
    for (const [key, account] of this.#known) if (!keys.includes(key)) others.#known.set(key, account)
    for (const [name, account] of this.#strangers) others.#strangers.set(name, account)
    return others
  }

  /** Forgets a key. */
  forget(key: string): void {
    this.#known.delete(key)
  }

  /**
   * Remembers what keys have used, and their bans.
   *
   * @returns to be called later: which of them have changed by then; that gives what brings these back
   */
  remembering(): () => () => void {
    const before = new Map([...this.#known].map(([key, { usage, bans }]) => [key, { usage, bans }]))
    return () => {
      const changed = [...this.#known].filter(([key, { usage, bans }]) => {
        const was = before.get(key)
        return was?.usage !== usage || was.bans !== bans
      })
      return () => {
        for (const [key] of changed) {
          const was = before.get(key)
          if (was === undefined) this.#known.delete(key)
          else this.#known.set(key, was)
        }
      }
    }
  }

  /** The clock was set back to an instant: windows, waits and bans that began later are over. */
  forgetFuture(now: EpochMs): void {
    for (const { account: known } of this.entries()) {
      const account: { -readonly [Field in keyof Account]: Account[Field] } = known
      account.usage = usageWithoutFuture(account.usage, now)
      account.bans = banRecordWithoutFuture(account.bans, now)
    }
  }
}

function open(): Account {
  return { usage: {}, bans: NO_BAN_RECORD }
}
