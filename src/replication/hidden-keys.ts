/**
 * Writes the keys that were given at the start (--api-key) into no log and no checkpoint:
 * they may be real ones. All replicas of a group were given the same, in the same order, so
 * that their places stand for them.
 */
export class HiddenKeys {
  readonly #keys: readonly (readonly [key: string, place: string])[]

  constructor(keys: readonly string[]) {
    this.#keys = keys
      // The longest first: one may begin with another.
      .map((key, index) => [JSON.stringify(key).slice(1, -1), `${MARK}${index}${MARK}`] as const)
      .filter(([key]) => key.length >= SHORTEST)
      .sort(([a], [b]) => b.length - a.length)
  }

  /** @param text JSON */
  hide(text: string): string {
    return this.#keys.reduce((shown, [key, place]) => shown.replaceAll(key, place), text)
  }

  /** @returns the JSON again */
  show(text: string): string {
    if (!text.includes(MARK)) return text
    return this.#keys.reduce((shown, [key, place]) => shown.replaceAll(place, () => key), text)
  }
}

/** JSON never holds it as it is, whatever anybody has sent. @source RFC 8259, section 7 */
const MARK = '\u0001'

/** A shorter one could be part of any word, and is hardly a real one. */
const SHORTEST = 8
