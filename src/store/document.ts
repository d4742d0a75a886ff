import { isUtf8 } from 'node:buffer'
import { constants, copyFileSync, linkSync, rmSync, statSync } from 'node:fs'
import { LowSync, type SyncAdapter } from 'lowdb'
import { isNode, parseJson, stringifyJson } from '../contract/json.js'
import { RESERVED_NAME } from '../contract/resource-data.js'
import { recordText } from '../domain/records.js'
import type { StoredState } from '../domain/state.js'
import { openReplacement, PRIVATE_FILE, readRegularFile, syncFolder } from '../system/regular-file.js'
import { Checksum } from './checksum.js'
import { type Disk, stampOf, writeAll } from './disk.js'
import type { Content, Layout, Reading } from './layout.js'
import { check, record } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith } from './store-error.js'
import { isVersion1, readVersion1, VERSION_1 } from './version-1.js'

interface DocumentOptions {
  readonly fsync: boolean
  readonly disk: Disk
  readonly warn: (message: string) => void
  readonly now: () => number
  readonly layout: Layout
}

/** The store's readable file, kept by lowdb. A new version replaces it at once. */
export class Document {
  readonly file: string
  readonly #layout: Layout
  readonly #adapter: DocumentAdapter
  readonly #db: LowSync<Content>

  constructor(file: string, options: DocumentOptions) {
    this.file = file
    this.#layout = options.layout
    this.#adapter = new DocumentAdapter(file, options)
    this.#db = new LowSync(this.#adapter, {})
  }

  /** @returns undefined if there is no file @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE */
  read(reading: Reading): StoredState | undefined {
    const { file } = this
    try {
      this.#db.read()
      if (this.checksum === undefined) return undefined
      const { data } = this.#db
      if (this.isVersion1) return readVersion1(data, this.#layout)
      return this.#layout.read(data, reading)
    } catch (error) {
      if (error instanceof CorruptionError || error instanceof SyntaxError) throw corrupt(file, error)
      throw cannot('STORE_UNREADABLE', 'read', file, error)
    }
  }

  get isVersion1(): boolean {
    return this.#adapter.foreign === VERSION_1
  }

  /** @param prepared called with the checksum of the new version before it replaces the file */
  write(state: StoredState, prepared: (checksum: string) => void): void {
    this.#adapter.prepared = prepared
    this.#db.data = this.#layout.write(state)
    this.#db.write()
  }

  /** Of the version that was read or written last; undefined without one. */
  get checksum(): string | undefined {
    return this.#adapter.checksum?.toString()
  }

  get bytes(): number {
    return this.#adapter.checksum?.bytes ?? 0
  }

  /** Keeps a copy of a damaged file. The next version replaces it. */
  discard(): void {
    this.#adapter.discard()
  }

  get exists(): boolean {
    return stampOf(this.file) !== undefined
  }

  /** Whether the file is the version that was read or written last. */
  get isUnchanged(): boolean {
    return this.#adapter.isUnchanged()
  }
}

class DocumentAdapter implements SyncAdapter<Content> {
  readonly #file: string
  readonly #options: DocumentOptions
  checksum: Checksum | undefined
  stamp: string | undefined
  /** The file has another form, such as that of json-server. The first write keeps it under this ending. */
  foreign: string | undefined
  prepared: (checksum: string) => void = () => {}
  readonly #edited: string[] = []

  constructor(file: string, options: DocumentOptions) {
    this.#file = file
    this.#options = options
  }

  read(): Content | null {
    try {
      const stamp = stampOf(this.#file)
      const bytes = readRegularFile(this.#file)
      const content = check(record, parse(bytes), 'the document')
      this.foreign = isVersion1(content) ? VERSION_1 : RESERVED_NAME in content ? undefined : 'original'
      this.checksum = new Checksum(bytes)
      this.stamp = stamp
      return content
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return null
      throw error
    }
  }

  write(content: Content): void {
    const { fsync, disk } = this.#options
    const checksum = new Checksum()
    const { fd, commit, discard } = openReplacement(this.#file, PRIVATE_FILE, true)
    try {
      for (const piece of documentPieces(content)) {
        checksum.add(piece)
        writeAll(disk, fd, piece)
      }
      if (fsync) disk.sync(fd)
      if (this.foreign !== undefined && this.isUnchanged()) keepForeign(this.#file, this.foreign)
      this.prepared(checksum.toString())
      this.#keepEdited()
      commit()
      if (fsync) syncFolder(this.#file)
    } finally {
      discard()
    }
    this.foreign = undefined
    this.checksum = checksum
    this.stamp = stampOf(this.#file)
  }

  discard(): void {
    if (stampOf(this.#file) === undefined) return
    const kept = keepCopy(this.#file, this.#options.now())
    this.stamp = stampOf(this.#file)
    this.#options.warn(`"${this.#file}" is discarded. A copy is kept in "${kept}".`)
  }

  /** A new time alone is not a change. */
  isUnchanged(): boolean {
    const present = stampOf(this.#file)
    if (present === this.stamp) return true
    if (present === undefined || !this.#hasSameContent()) return false
    this.stamp = present
    return true
  }

  #hasSameContent(): boolean {
    try {
      const { size } = statSync(this.#file)
      return size === this.checksum?.bytes && `${new Checksum(readRegularFile(this.#file))}` === `${this.checksum}`
    } catch {
      // The next version replaces it.
      return false
    }
  }

  #keepEdited(): void {
    if (this.isUnchanged()) return
    if (stampOf(this.#file) === undefined) {
      this.#options.warn(`"${this.#file}" was removed while the sandbox was running. The sandbox writes it again.`)
      return
    }
    const kept = keepAside(this.#file, timed('edited', this.#options.now()), linkOrCopy)
    this.#edited.push(kept)
    if (this.#edited.length > MAX_EDITED_COPIES) rmSync(this.#edited.shift() ?? '', { force: true })
    this.#options.warn(
      `"${this.#file}" was edited while the sandbox was running. The edit has no effect; it is kept in "${kept}". Edit the file while the sandbox is stopped.`,
    )
  }
}

/** Of a run: a program that edits the file after each write would fill the disk. */
const MAX_EDITED_COPIES = 10

/** @returns the name of the copy */
export function keepCopy(file: string, now: number): string {
  return keepAside(file, timed('discarded', now), (kept) => copyFileSync(file, kept, constants.COPYFILE_EXCL))
}

/** Unless it is kept already. */
export function keepForeign(file: string, ending: string): void {
  keepAside(file, ending, linkOrCopy, (kept) => {
    const [one, other] = [statSync(kept), statSync(file)]
    return one.size === other.size && readRegularFile(kept).equals(readRegularFile(file))
  })
}

function timed(why: string, now: number): string {
  return `${why}-${new Date(now).toISOString().replace(/[:.]/g, '-')}`
}

function keepAside(
  file: string,
  ending: string,
  keep: (kept: string, file: string) => void,
  isKept: (kept: string) => boolean = () => false,
): string {
  for (let copy = 1; ; copy++) {
    const kept = `${file}.${ending}${copy === 1 ? '' : `-${copy}`}`
    try {
      keep(kept, file)
      return kept
    } catch (error) {
      if (!failedWith(error, 'EEXIST')) throw error
      if (isKept(kept)) return kept
    }
  }
}

/** A hard link takes no space, and includes what an editor is still writing. */
function linkOrCopy(kept: string, file: string): void {
  try {
    linkSync(file, kept)
  } catch (error) {
    if (failedWith(error, 'EEXIST')) throw error
    copyFileSync(file, kept, constants.COPYFILE_EXCL)
  }
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new CorruptionError('it is empty')
  if (!isUtf8(bytes)) throw new CorruptionError('it is not UTF-8')
  // Some editors add a byte order mark, which is not valid JSON.
  return parseJson(bytes.toString().replace(/^\uFEFF/, ''))
}

const INDENT = '    '

/** So that a million records are never in memory as one string. */
const ENTRIES_PER_PIECE = 2000

/** Writes one record per line, so that the document is readable and its differences are small. */
function* documentPieces(content: Content): Generator<Buffer> {
  let before = '{\n  '
  for (const [name, value] of Object.entries(content)) {
    yield Buffer.from(`${before}${JSON.stringify(name)}: `)
    if (Array.isArray(value)) yield* list(value)
    else yield Buffer.from(name === RESERVED_NAME ? linesOf(value as Content) : stringifyJson(value))
    before = ',\n  '
  }
  yield Buffer.from('\n}\n')
}

function linesOf(content: Content): string {
  const lines = Object.entries(content).map(
    ([name, value]) => `\n${INDENT}${JSON.stringify(name)}: ${stringifyJson(value)}`,
  )
  return `{${lines.join(',')}\n  }`
}

function* list(entries: readonly unknown[]): Generator<Buffer> {
  for (let at = 0; at < entries.length; at += ENTRIES_PER_PIECE) {
    const lines = entries.slice(at, at + ENTRIES_PER_PIECE).map((entry) => `\n${INDENT}${textOf(entry)}`)
    yield Buffer.from((at === 0 ? '[' : ',') + lines.join(','))
  }
  yield Buffer.from(entries.length === 0 ? '[]' : '\n  ]')
}

function textOf(value: unknown): string {
  return isNode(value) ? recordText(value) : stringifyJson(value)
}

/** In one line. */
export function contentText(content: Content): string {
  const lists = Object.entries(content).map(([name, value]) => {
    const text = Array.isArray(value) ? `[${value.map(textOf).join(',')}]` : stringifyJson(value)
    return `${JSON.stringify(name)}:${text}`
  })
  return `{${lists.join(',')}}`
}
