import { parseJson } from '../contract/json.js'
import { PET_STATUSES, type Pet, type PetStatus } from '../domain/pets.js'
import { LAYOUT } from './document-text.js'
import type { Recovery } from './recovery.js'
import { CorruptionError } from './store-error.js'

/** Replaces the pets that were already read, when the rest of the document is parsed. */
const PLACEHOLDER = '"pets by line"'

const WHOLE_NUMBER = '0|-?[1-9]\\d{0,14}'
/** Characters that need no escaping in JSON. */
const PLAIN_TEXT = '[ !#-[\\]-\\uffff]*'
/**
 * A pet in our layout, if its numbers are short enough for a double to
 * be exact and nothing in its name is escaped. What matches is a valid pet, and so
 * need not be parsed or checked; what does not match may still be one.
 */
const PLAIN_PET = new RegExp(
  `${LAYOUT.petIndent}{"id":(${WHOLE_NUMBER}),"name":"(${PLAIN_TEXT})","categoryId":(${WHOLE_NUMBER})(?:,"status":"(${PET_STATUSES.join('|')})")?}(,?)\n`,
  'y',
)

/** V8 keeps longer substrings as views, which keep the whole string alive. */
const LONGEST_COPIED = 12
/** Number of names cached for reuse; generated pets share a few. */
const NAMES_KEPT = 1024

/** Reads the pets of a document in our layout line by line, and collects the other lines. */
export class PetLines {
  readonly #recovery: Recovery
  readonly #others: string[] = []
  #stage: 'head' | 'pets' | 'rest' = 'head'
  #lastEndsInComma = true
  readonly #names = new Map<string, string>()

  constructor(recovery: Recovery) {
    this.#recovery = recovery
  }

  /**
   * @param text whole lines, each with its line feed
   * @returns false when the document does not keep to the layout, or has a mistake
   */
  read(text: string): boolean {
    for (let at = this.#readPlainPets(text, 0); at < text.length; at = this.#readPlainPets(text, at)) {
      const end = text.indexOf('\n', at)
      if (!this.#readLine(text.slice(at, end))) return false
      at = end + 1
    }
    return true
  }

  /** @returns the index of the first line that is no plain pet, or must not be one */
  #readPlainPets(text: string, start: number): number {
    let at = start
    while (this.#stage === 'pets' && this.#lastEndsInComma) {
      PLAIN_PET.lastIndex = at
      const found = PLAIN_PET.exec(text)
      if (found === null) break
      at = PLAIN_PET.lastIndex
      const [, id, name = '', categoryId, statusText, comma] = found
      this.#recovery.addPlainPet(plainPet(Number(id), this.#ownText(name), Number(categoryId), statusNamed(statusText)))
      this.#lastEndsInComma = comma === ','
    }
    return at
  }

  /** A copy of a name that does not keep the block alive; the first names are shared. */
  #ownText(name: string): string {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const own: string = name.length > LONGEST_COPIED ? JSON.parse(`"${name}"`) : name
    if (this.#names.size < NAMES_KEPT) this.#names.set(own, own)
    return own
  }

  /** @returns the rest of the document, with no pets; undefined if it is no whole document in our layout */
  others(): unknown {
    if (this.#stage !== 'rest') return undefined
    try {
      const document = parseJson(this.#others.join('\n')) as Readonly<Record<string, unknown>>
      const { pets } = document
      // A second list of pets further down would override the first.
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
      throw error instanceof CorruptionError ? error : new CorruptionError(String(error))
    }
  }
}

/** The shared constant, as the match is a new string for each pet. */
function statusNamed(text: string | undefined): PetStatus | undefined {
  return PET_STATUSES.find((status) => status === text)
}

function plainPet(id: number, name: string, categoryId: number, status: PetStatus | undefined): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status }
}
