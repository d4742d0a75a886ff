import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import { parseJson, stringifyJson } from '../contract/json.js'
import { PET_STATUSES, type Pet } from '../domain/pets.js'
import { openRegularFile } from '../system/regular-file.js'
import { setImmediate } from '../system/timers.js'
import { Checksum } from './checksum.js'
import { DOCUMENT_VERSION, LAYOUT } from './document-text.js'
import { Recovery } from './recovery.js'
import { check, type Reader, record } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

export interface FoundDocument {
  readonly recovery: Recovery
  readonly checksum: Checksum
  readonly stamp: string
}

/**
 * Reads and checks a document.
 *
 * A document in our own layout is read line by line, so that a million pets are never in memory as one string, and
 * an id beyond 2^53 slows down only its own line. Any other is parsed as a whole.
 *
 * @returns undefined if the file does not exist
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE
 */
export async function readDocument(file: string, readPet?: Reader<Pet>): Promise<FoundDocument | undefined> {
  let fd: number | undefined
  try {
    fd = openRegularFile(file, constants.O_RDONLY)
    const stamp = fileStamp(fstatSync(fd, { bigint: true }))
    const checksum = new Checksum()
    let recovery = new Recovery(readPet)
    let content = await readByLine(fd, checksum, recovery)
    if (content === undefined) {
      recovery = new Recovery(readPet)
      content = parseWhole(fd)
    }
    const { version, ...state } = check(record, content, 'the document')
    if (version === undefined) throw new CorruptionError('version is missing')
    if (version !== DOCUMENT_VERSION) {
      throw new StoreError(
        'STORE_VERSION',
        `"${file}" has version ${stringifyJson(version)}, this release reads ${DOCUMENT_VERSION}. Use the release that wrote it, or choose another file with --store.`,
      )
    }
    recovery.addState(state)
    return { recovery, checksum, stamp }
  } catch (error) {
    if (fd === undefined && failedWith(error, 'ENOENT')) return undefined
    if (error instanceof CorruptionError || error instanceof SyntaxError) throw corrupt(file, error)
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Changes whenever a file is written or replaced. */
export function fileStamp(stats: { readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint }): string {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}`
}

const BLOCK_BYTES = 1024 * 1024

/** @returns what is left without the pets; undefined for another layout, or a mistake that a whole parse reports better */
async function readByLine(fd: number, checksum: Checksum, recovery: Recovery): Promise<unknown> {
  const lines = new PetLines(recovery)
  let fits = true
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of blocksOf(fd)) {
    checksum.add(chunk)
    const block = Buffer.concat([rest, chunk])
    const end = block.lastIndexOf('\n') + 1
    rest = block.subarray(end)
    fits &&= isUtf8(block.subarray(0, end)) && lines.read(block.toString('utf8', 0, end))
  }
  return fits && rest.length === 0 ? lines.others() : undefined
}

/** Each block is valid until the next is read. Other work runs in between, such as signal handlers. */
async function* blocksOf(fd: number): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES)
  for (let at = 0; ; ) {
    const length = readSync(fd, block, 0, block.length, at)
    if (length === 0) return
    yield block.subarray(0, length)
    at += length
    if (length === BLOCK_BYTES) await new Promise((resolve) => setImmediate(resolve))
  }
}

function parseWhole(fd: number): unknown {
  const { size } = fstatSync(fd)
  const bytes = Buffer.alloc(size)
  const length = readSync(fd, bytes, 0, size, 0)
  if (length === 0) throw new CorruptionError('it is empty')
  if (!isUtf8(bytes)) throw new CorruptionError('it is not UTF-8')
  // Some editors write a byte order mark, which is not JSON.
  return parseJson(bytes.toString('utf8', 0, length).replace(/^\uFEFF/, ''))
}

/** Replaces the pets that were read, when the rest of the document is parsed. */
const PLACEHOLDER = '"pets by line"'

const WHOLE_NUMBER = '0|-?[1-9]\\d{0,14}'
/** Characters that need no escaping in JSON. */
const PLAIN_TEXT = '[ !#-[\\]-\\uffff]*'
/**
 * A pet in our layout whose numbers are exact as doubles and whose name has no escapes. A match is a valid pet that
 * need not be parsed or checked; other lines may be valid too.
 */
const PLAIN_PET = new RegExp(
  `${LAYOUT.petIndent}{"id":(${WHOLE_NUMBER}),"name":"(${PLAIN_TEXT})","categoryId":(${WHOLE_NUMBER})(?:,"status":"(${PET_STATUSES.join('|')})")?}(,?)\n`,
  'y',
)

/** V8 keeps longer substrings as views, which keep the whole block alive. */
const MAX_COPIED_LENGTH = 12
/** Generated pets share a few names. */
const MAX_CACHED_NAMES = 1024

/** Reads the pets of a document in our layout line by line, and collects the other lines. */
class PetLines {
  readonly #recovery: Recovery
  readonly #others: string[] = []
  #stage: 'head' | 'pets' | 'rest' = 'head'
  #expectsPet = true
  readonly #names = new Map<string, string>()

  constructor(recovery: Recovery) {
    this.#recovery = recovery
  }

  /**
   * @param text whole lines, each with its line feed
   * @returns false if the document has another layout, or a mistake
   */
  read(text: string): boolean {
    for (let at = this.#readPlainPets(text, 0); at < text.length; at = this.#readPlainPets(text, at)) {
      const end = text.indexOf('\n', at)
      if (!this.#readLine(text.slice(at, end))) return false
      at = end + 1
    }
    return true
  }

  /** @returns the index of the first line that is not a plain pet, or not expected to be one */
  #readPlainPets(text: string, start: number): number {
    let at = start
    while (this.#stage === 'pets' && this.#expectsPet) {
      PLAIN_PET.lastIndex = at
      const found = PLAIN_PET.exec(text)
      if (found === null) break
      at = PLAIN_PET.lastIndex
      const [, id, name = '', categoryId, statusText, comma] = found
      const pet = { id: Number(id), name: this.#copy(name), categoryId: Number(categoryId) }
      // The shared constant, as the match is a new string for each pet.
      const status = PET_STATUSES.find((known) => known === statusText)
      this.#recovery.addPlainPet(status === undefined ? pet : { ...pet, status })
      this.#expectsPet = comma === ','
    }
    return at
  }

  /** A name that does not keep the block alive. */
  #copy(name: string): string {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const copy: string = name.length > MAX_COPIED_LENGTH ? JSON.parse(`"${name}"`) : name
    if (this.#names.size < MAX_CACHED_NAMES) this.#names.set(copy, copy)
    return copy
  }

  /** @returns the document without pets; undefined if it is incomplete or has another layout */
  others(): unknown {
    if (this.#stage !== 'rest') return undefined
    try {
      const document = parseJson(this.#others.join('\n')) as Readonly<Record<string, unknown>>
      const { pets } = document
      // A second list of pets would replace the first.
      const isOurs = Array.isArray(pets) && pets.length === 1 && `"${pets[0]}"` === PLACEHOLDER
      return isOurs ? { ...document, pets: [] } : undefined
    } catch {
      return undefined
    }
  }

  #readLine(line: string): boolean {
    if (this.#stage === 'pets' && line !== LAYOUT.afterPets) return this.#readPet(line)
    this.#others.push(line)
    if (this.#stage === 'pets') {
      this.#stage = 'rest'
      return !this.#expectsPet
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
    if (!this.#expectsPet) return false
    this.#expectsPet = line.endsWith(',')
    try {
      this.#recovery.addPet(parseJson(this.#expectsPet ? line.slice(0, -1) : line))
      return true
    } catch (error) {
      if (error instanceof SyntaxError) return false
      throw error instanceof CorruptionError ? error : new CorruptionError(String(error))
    }
  }
}
