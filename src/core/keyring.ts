import type { ApiKey } from '../domain/keys.js'

/**
 * The keys of a sandbox. One that is added or removed is so in every space at once;
 * plan, quotas and ban are each space's own.
 *
 * @source docs/behaviour.md, "Spaces"
 */
export class Keyring {
  readonly #given: ReadonlyMap<string, ApiKey>
  readonly #stored = new Map<string, ApiKey>()
  readonly #valid = new Map<string, ApiKey>()

  /**
   * @param stored those of the store, or of the fixtures
   * @param given  those given at the start (--api-key): they are valid, too, but never stored
   */
  constructor(stored: readonly ApiKey[], given: readonly ApiKey[]) {
    this.#given = new Map(given.map((apiKey) => [apiKey.key, apiKey]))
    this.replace(stored)
  }

  /** Every valid key. */
  get valid(): ReadonlyMap<string, ApiKey> {
    return this.#valid
  }

  /** Those that outlive the process. */
  get stored(): ReadonlyMap<string, ApiKey> {
    return this.#stored
  }

  /** A key that was given at the start, also if it was removed since. */
  given(key: string): ApiKey | undefined {
    return this.#given.get(key)
  }

  add(apiKey: ApiKey): void {
    if (!this.#given.has(apiKey.key)) this.#stored.set(apiKey.key, apiKey)
    this.#valid.set(apiKey.key, apiKey)
  }

  remove(key: string): void {
    if (!this.#given.has(key)) this.#stored.delete(key)
    this.#valid.delete(key)
  }

  /** Only these are left, and those of the start. */
  replace(stored: readonly ApiKey[]): void {
    this.#stored.clear()
    this.#valid.clear()
    for (const apiKey of stored) this.#stored.set(apiKey.key, apiKey)
    for (const apiKey of [...stored, ...this.#given.values()]) this.#valid.set(apiKey.key, apiKey)
  }
}
