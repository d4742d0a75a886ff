import type { ApiKey } from '../domain/keys.js'

/** A keyring as plain data; each list in its order. */
export interface SavedKeyring {
  readonly stored: readonly ApiKey[]
  readonly valid: readonly ApiKey[]
}

/**
 * The keys of a sandbox. One that is added or removed is so in every space at once;
 * plan, quotas and ban are each space's own.
 *
 * @source docs/behaviour.md, "Spaces"
 */
export class Keyring {
  readonly #given: ReadonlyMap<string, ApiKey>
  #stored: Map<string, ApiKey> = new Map()
  #valid: Map<string, ApiKey> = new Map()

  /**
   * @param stored those of the store, or of the fixtures
   * @param given  those given at the start (--api-key): they are valid, too, but never stored
   */
  constructor(stored: readonly ApiKey[], given: readonly ApiKey[]) {
    this.#given = byKey(given)
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

  /** Adds a key that is not there. @returns takes it back */
  add(apiKey: ApiKey): () => void {
    const { key } = apiKey
    const isStored = !this.#given.has(key)
    if (isStored) this.#stored.set(key, apiKey)
    this.#valid.set(key, apiKey)
    return () => {
      if (isStored) this.#stored.delete(key)
      this.#valid.delete(key)
    }
  }

  /** @returns takes it back */
  remove(key: string): () => void {
    const back = this.#memento()
    this.#stored = new Map(this.#stored)
    this.#valid = new Map(this.#valid)
    if (!this.#given.has(key)) this.#stored.delete(key)
    this.#valid.delete(key)
    return back
  }

  /** Only these are left, and those of the start. @returns takes it back */
  replace(stored: readonly ApiKey[]): () => void {
    const back = this.#memento()
    this.#stored = byKey(stored)
    this.#valid = byKey([...stored, ...this.#given.values()])
    return back
  }

  /** As plain data. */
  save(): SavedKeyring {
    return { stored: [...this.#stored.values()], valid: [...this.#valid.values()] }
  }

  load({ stored, valid }: SavedKeyring): void {
    this.#stored = byKey(stored)
    this.#valid = byKey(valid)
  }

  /** Brings back the order of the keys, too, which lists show. */
  #memento(): () => void {
    const stored = this.#stored
    const valid = this.#valid
    return () => {
      this.#stored = stored
      this.#valid = valid
    }
  }
}

function byKey(keys: readonly ApiKey[]): Map<string, ApiKey> {
  return new Map(keys.map((apiKey) => [apiKey.key, apiKey]))
}
