import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import { isNode, parseJson, stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'
import type { Pet } from '../domain/pets.js'
import { recordText } from '../domain/records.js'
import type { SpaceState } from '../domain/state.js'
import { openRegularFile } from '../system/regular-file.js'
import { setImmediate } from '../system/system-clock.js'
import { Checksum } from './checksum.js'
import { Recovery } from './recovery.js'
import { check, type Reader, record } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

export interface FoundDocument {
  readonly recovery: Recovery
  readonly checksum: Checksum
  readonly stamp: string
}

/**
 * Reads and checks a document. One in our own layout is read block by block: a million records are never in memory as
 * one string. Others are parsed as a whole.
 * @returns undefined if the file does not exist
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE
 */
export async function readDocument(file: string, readPet?: Reader<Pet>): Promise<FoundDocument | undefined> {
  let fd: number | undefined
  try {
    fd = openRegularFile(file, constants.O_RDONLY)
    const stamp = fileStamp(fstatSync(fd, { bigint: true }))
    const checksum = new Checksum()
    const content = (await readByLine(fd, checksum)) ?? parseWhole(fd)
    const { version, ...state } = check(record, content, 'the document')
    if (version === undefined) throw new CorruptionError('version is missing')
    if (version !== DOCUMENT_VERSION) {
      throw new StoreError(
        'STORE_VERSION',
        `"${file}" has version ${stringifyJson(version)}, this release reads version ${DOCUMENT_VERSION}. Use the release that wrote it, or choose another file with --store.`,
      )
    }
    const recovery = new Recovery(readPet)
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

/** @returns undefined for another layout, or an error that a whole parse reports better */
async function readByLine(fd: number, checksum: Checksum): Promise<unknown> {
  const lines = new LinesReader()
  let fits = true
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of blocksOf(fd)) {
    checksum.add(chunk)
    const block = Buffer.concat([rest, chunk])
    const end = block.lastIndexOf('\n') + 1
    rest = block.subarray(end)
    fits &&= isUtf8(block.subarray(0, end)) && lines.read(block.toString('utf8', 0, end))
  }
  return fits && rest.length === 0 ? lines.document() : undefined
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

/** Stands for a list while the rest of the document is parsed. */
const PLACEHOLDER = /^list (\d+) by line$/

/** Parses lists whose entries have a line each, a block at a time, and then the lines around them. */
class LinesReader {
  readonly #others: string[] = []
  readonly #lists: unknown[][] = []
  #list: unknown[] | undefined
  #endsWithComma = false

  /** @param text whole lines, each with its line feed @returns false for another layout, or an error */
  read(text: string): boolean {
    for (let at = 0; at < text.length; ) {
      if (this.#list !== undefined) {
        const end = endOfEntries(text, at)
        if (end > at && !this.#readEntries(text.slice(at, end - 1), this.#list)) return false
        at = end
        if (at === text.length) break
        if (this.#endsWithComma) return false
        this.#list = undefined
      }
      const end = text.indexOf('\n', at)
      const line = text.slice(at, end)
      at = end + 1
      this.#others.push(line)
      if (!line.endsWith('[')) continue
      this.#list = []
      this.#others.push(`"list ${this.#lists.push(this.#list) - 1} by line"`)
    }
    return true
  }

  #readEntries(text: string, list: unknown[]): boolean {
    if (list.length > 0 && !this.#endsWithComma) return false
    this.#endsWithComma = text.endsWith(',')
    try {
      for (const entry of parseJson(`[${this.#endsWithComma ? text.slice(0, -1) : text}]`) as unknown[])
        list.push(entry)
      return true
    } catch {
      return false
    }
  }

  /** @returns undefined if it is incomplete or has another layout */
  document(): unknown {
    try {
      return this.#withLists(parseJson(this.#others.join('\n')))
    } catch {
      return undefined
    }
  }

  #withLists(value: unknown): unknown {
    if (isNode(value))
      return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, this.#withLists(field)]))
    const [first] = Array.isArray(value) ? (value as readonly unknown[]) : []
    const [, index] = (typeof first === 'string' && PLACEHOLDER.exec(first)) || []
    return index === undefined ? value : this.#lists[Number(index)]
  }
}

function endOfEntries(text: string, start: number): number {
  if (text.startsWith(LAYOUT.listEnd, start)) return start
  const end = text.indexOf(`\n${LAYOUT.listEnd}`, start)
  return end === -1 ? text.length : end + 1
}

const DOCUMENT_VERSION = 1

/** Each entry of a list has a line. Documents with these lines are read block by block. */
const LAYOUT = { indent: '    ', listEnd: '  ]' } as const

/** About a millisecond of work, so that requests are served in between. */
const ENTRIES_PER_PIECE = 2000

/** Writes one record per line, in pieces: a million records are never in memory as one string. */
export function* documentPieces({ nextPetId, pets, orders, keys, records }: SpaceState): Generator<Buffer> {
  yield Buffer.from(`{\n  "version": ${DOCUMENT_VERSION},\n  "nextPetId": ${nextPetId},\n  "pets": `)
  yield* list(pets, recordText)
  yield Buffer.from(',\n  "orders": ')
  yield* list(orders, stringifyJson)
  yield Buffer.from(',\n  "keys": ')
  yield* list(keys.map(storedKey), stringifyJson)
  if (records !== undefined) yield* recordPieces(records)
  yield Buffer.from('\n}\n')
}

function* recordPieces(records: NonNullable<SpaceState['records']>): Generator<Buffer> {
  let before = ',\n  "records": {\n    '
  for (const [name, { idProperty, nextId, values, scopes }] of Object.entries(records)) {
    yield Buffer.from(`${before}${stringifyJson(name)}: ${stringifyJson({ idProperty, nextId }).slice(0, -1)}`)
    if (scopes !== undefined) {
      yield Buffer.from(',"scopes":')
      yield* list(scopes, stringifyJson)
    }
    yield Buffer.from(',"values":')
    yield* list(values, recordText)
    before = '},\n    '
  }
  yield Buffer.from('}\n  }')
}

export function storedKey({ key, plan, always }: ApiKey): object {
  return { key, plan, always }
}

function* list<Entry>(entries: readonly Entry[], textOf: (entry: Entry) => string): Generator<Buffer> {
  if (entries.length === 0) {
    yield Buffer.from('[]')
    return
  }
  for (let at = 0; at < entries.length; at += ENTRIES_PER_PIECE) {
    const lines = entries.slice(at, at + ENTRIES_PER_PIECE).map((entry) => `\n${LAYOUT.indent}${textOf(entry)}`)
    yield Buffer.from((at === 0 ? '[' : ',') + lines.join(','))
  }
  yield Buffer.from(`\n${LAYOUT.listEnd}`)
}
