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
 * Reads and checks a document. One in our own layout is read line by line: a million pets are never in memory as one
 * string, and only lines with an id beyond 2^53 are slow. Others are parsed as a whole.
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
        `"${file}" has version ${stringifyJson(version)}, this release reads version ${DOCUMENT_VERSION}. Use the release that wrote it, or choose another file with --store.`,
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

export function fileStamp(stats: { readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint }): string {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}`
}

const BLOCK_BYTES = 1024 * 1024

/** @returns the document without pets; undefined for another layout, or an error that a whole parse reports better */
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

/** A block is valid until the next is read. Yields to other work, such as signal handlers. */
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
  // Some editors add a byte order mark, which is not valid JSON.
  return parseJson(bytes.toString('utf8', 0, length).replace(/^\uFEFF/, ''))
}

/** Stands for the pets while the rest of the document is parsed. */
const PLACEHOLDER = '"pets by line"'

const WHOLE_NUMBER = '0|-?[1-9]\\d{0,14}'
const PLAIN_TEXT = '[ !#-[\\]-\\uffff]*'
/**
 * A valid pet in our layout with numbers exact as doubles and a name without escapes: needs no parsing or checks. Other
 * lines may also be valid.
 */
const PLAIN_PET = new RegExp(
  `${LAYOUT.petIndent}{"id":(${WHOLE_NUMBER}),"name":"(${PLAIN_TEXT})","categoryId":(${WHOLE_NUMBER})(?:,"status":"(${PET_STATUSES.join('|')})")?}(,?)\n`,
  'y',
)

/** Longer substrings are views in V8, which keep the whole block alive. */
const MAX_COPIED_LENGTH = 12
const MAX_CACHED_NAMES = 1024

class PetLines {
  readonly #recovery: Recovery
  readonly #others: string[] = []
  #stage: 'head' | 'pets' | 'rest' = 'head'
  #expectsPet = true
  readonly #names = new Map<string, string>()

  constructor(recovery: Recovery) {
    this.#recovery = recovery
  }

  /** @param text whole lines, each with its line feed @returns false for another layout, or an error */
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
      const status = PET_STATUSES.find((known) => known === statusText)
      this.#recovery.addPlainPet(status === undefined ? pet : { ...pet, status })
      this.#expectsPet = comma === ','
    }
    return at
  }

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
