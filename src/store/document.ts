import { isUtf8 } from 'node:buffer'
import { constants, copyFileSync, linkSync, rmSync, statSync } from 'node:fs'
import { LowSync, type SyncAdapter } from 'lowdb'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'
import { recordText } from '../domain/records.js'
import { EMPTY_STATE, type StoredState } from '../domain/state.js'
import { openReplacement, readRegularFile, syncFolder } from '../system/regular-file.js'
import { Checksum } from './checksum.js'
import { type Disk, stampOf, writeAll } from './disk.js'
import { check, record } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

interface DocumentOptions {
  readonly fsync: boolean
  readonly disk: Disk
  readonly warn: (message: string) => void
  readonly now: () => number
  /** Checks what the file contains. @throws CorruptionError */
  readonly asState: (content: Readonly<Record<string, unknown>>) => StoredState
}

/** The store's readable file, kept by lowdb. A new version replaces it at once. */
export class Document {
  readonly file: string
  readonly #adapter: DocumentAdapter
  readonly #db: LowSync<StoredState>

  constructor(file: string, options: DocumentOptions) {
    this.file = file
    this.#adapter = new DocumentAdapter(file, options)
    this.#db = new LowSync(this.#adapter, EMPTY_STATE)
  }

  /** @returns undefined if there is no file @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE */
  read(): StoredState | undefined {
    this.#db.read()
    return this.checksum === undefined ? undefined : this.#db.data
  }

  /** @param prepared called with the checksum of the new version before it replaces the file */
  write(state: StoredState, prepared: (checksum: string) => void): void {
    this.#adapter.prepared = prepared
    this.#db.data = state
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

class DocumentAdapter implements SyncAdapter<StoredState> {
  readonly #file: string
  readonly #options: DocumentOptions
  checksum: Checksum | undefined
  stamp: string | undefined
  prepared: (checksum: string) => void = () => {}
  readonly #edited: string[] = []

  constructor(file: string, options: DocumentOptions) {
    this.#file = file
    this.#options = options
  }

  read(): StoredState | null {
    const file = this.#file
    try {
      const stamp = stampOf(file)
      const bytes = readRegularFile(file)
      const { version, ...content } = check(record, parse(bytes), 'the document')
      if (version === undefined) throw new CorruptionError('version is missing')
      if (version !== DOCUMENT_VERSION) {
        throw new StoreError(
          'STORE_VERSION',
          `"${file}" has version ${stringifyJson(version)}, this release reads version ${DOCUMENT_VERSION}. Use the release that wrote it, choose another file with --store, or discard it with --reset.`,
        )
      }
      const state = this.#options.asState(content)
      this.checksum = new Checksum(bytes)
      this.stamp = stamp
      return state
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return null
      if (error instanceof CorruptionError || error instanceof SyntaxError) throw corrupt(file, error)
      throw cannot('STORE_UNREADABLE', 'read', file, error)
    }
  }

  write(state: StoredState): void {
    const { fsync, disk } = this.#options
    const checksum = new Checksum()
    const { fd, commit, discard } = openReplacement(this.#file)
    try {
      for (const piece of documentPieces(state)) {
        checksum.add(piece)
        writeAll(disk, fd, piece)
      }
      if (fsync) disk.sync(fd)
      this.prepared(checksum.toString())
      this.#keepEdited()
      commit()
      if (fsync) syncFolder(this.#file)
    } finally {
      discard()
    }
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
    const kept = keepAside(this.#file, 'edited', this.#options.now(), linkOrCopy)
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
  return keepAside(file, 'discarded', now, (kept) => copyFileSync(file, kept, constants.COPYFILE_EXCL))
}

function keepAside(file: string, why: string, now: number, keep: (kept: string, file: string) => void): string {
  const time = new Date(now).toISOString().replace(/[:.]/g, '-')
  for (let copy = 1; ; copy++) {
    const kept = `${file}.${why}-${time}${copy === 1 ? '' : `-${copy}`}`
    try {
      keep(kept, file)
      return kept
    } catch (error) {
      if (!failedWith(error, 'EEXIST')) throw error
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

const DOCUMENT_VERSION = 1

const INDENT = '    '

/** So that a million records are never in memory as one string. */
const ENTRIES_PER_PIECE = 2000

/** Writes one record per line, so that the document is readable and its differences are small. */
function* documentPieces({ nextPetId, pets, orders, keys, records }: StoredState): Generator<Buffer> {
  yield Buffer.from(`{\n  "version": ${DOCUMENT_VERSION},\n  "nextPetId": ${nextPetId},\n  "pets": `)
  yield* list(pets, recordText)
  yield Buffer.from(',\n  "orders": ')
  yield* list(orders, stringifyJson)
  yield Buffer.from(',\n  "keys": ')
  yield* list(keys.map(storedKey), stringifyJson)
  if (records !== undefined) yield* recordPieces(records)
  yield Buffer.from('\n}\n')
}

function* recordPieces(records: NonNullable<StoredState['records']>): Generator<Buffer> {
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
    const lines = entries.slice(at, at + ENTRIES_PER_PIECE).map((entry) => `\n${INDENT}${textOf(entry)}`)
    yield Buffer.from((at === 0 ? '[' : ',') + lines.join(','))
  }
  yield Buffer.from('\n  ]')
}
