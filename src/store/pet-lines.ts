import { parseJson } from '../contract/json.js'
import { LAYOUT } from './document-text.js'
import type { Recovery } from './recovery.js'
import { Damage } from './store-error.js'

/** Stands for the pets that were read already, where the rest of the document is read. */
const PLACEHOLDER = '"pets by line"'

/** Reads the pets of a document in our layout line by line, and keeps the other lines. */
export class PetLines {
  readonly #recovery: Recovery
  readonly #others: string[] = []
  #stage: 'head' | 'pets' | 'rest' = 'head'
  #lastEndsInComma = true

  constructor(recovery: Recovery) {
    this.#recovery = recovery
  }

  /**
   * @param text whole lines, each with its line feed
   * @returns false when the document does not keep to the layout, or has a mistake
   */
  read(text: string): boolean {
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      if (!this.#readLine(text.slice(at, end))) return false
      at = end + 1
    }
    return true
  }

  /** @returns the rest of the document, with no pets; undefined if it is no whole document in our layout */
  others(): unknown {
    if (this.#stage !== 'rest') return undefined
    try {
      const document = parseJson(this.#others.join('\n')) as Readonly<Record<string, unknown>>
      const { pets } = document
      // A second list of pets further down would count instead of the first.
      return Array.isArray(pets) && pets.length === 1 && `"${pets[0]}"` === PLACEHOLDER
        ? { ...document, pets: [] }
        : undefined
    } catch {
      return undefined
    }
  }

  #readLine(line: string): boolean {
    if (this.#stage === 'pets' && line !== LAYOUT.afterPets) return this.#readPet(line)
    this.#others.push(line)
    if (this.#stage === 'pets') {
      this.#stage = 'rest'
      return !this.#lastEndsInComma
    }
    if (this.#stage === 'rest') return true
    const expected = LAYOUT.head[this.#others.length - 1]
    if (expected === undefined || !expected.test(line)) return false
    if (this.#others.length === LAYOUT.head.length) {
      this.#others.push(PLACEHOLDER)
      this.#stage = 'pets'
    }
    return true
  }

  #readPet(line: string): boolean {
    if (!this.#lastEndsInComma) return false
    this.#lastEndsInComma = line.endsWith(',')
    try {
      this.#recovery.addPet(parseJson(this.#lastEndsInComma ? line.slice(0, -1) : line))
      return true
    } catch (error) {
      if (error instanceof SyntaxError) return false
      throw error instanceof Damage ? error : new Damage(String(error))
    }
  }
}
