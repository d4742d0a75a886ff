import { closeSync, constants, fstatSync, lstatSync, rmSync, statSync } from 'node:fs'
import * as v from 'valibot'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Pet } from '../domain/pets.js'
import { recordText } from '../domain/records.js'
import type { Change, StoredState } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { assertRegularFile, openRegularFile, readRegularFile } from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { type Disk, placeOf, writeAll } from './disk.js'
import { storedKey } from './document.js'
import { apiKey, check, fields, int64, list, type Reader, recordEntry, text, wholeNumber } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

const JOURNAL_VERSION = 4

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT

/**
 * The commits since the document was written: JSON lines, each with its own CRC-32. The first line names the document
 * that they continue.
 */
export class Journal {
  readonly #file: string
  readonly #fsync: boolean
  readonly #disk: Disk
  readonly #fd: number
  readonly #place: string
  length: number
  /** A failed write, or a process before, may have left bytes after `length`. */
  #mayBeTooLong: boolean

  /** @param length of the valid lines; the file is truncated there before the next write */
  constructor(file: string, length: number, fsync: boolean, disk: Disk) {
    this.#file = file
    this.#fsync = fsync
    this.#disk = disk
    this.#fd = openRegularFile(file, FLAGS)
    this.#place = placeOf(fstatSync(this.#fd))
    this.length = length
    this.#mayBeTooLong = true
  }

  /** Whether the path still leads to the open file, with only what was written to it. Other writes would be lost. */
  get isUnchanged(): boolean {
    const present = statSync(this.#file, { throwIfNoEntry: false })
    if (present === undefined || placeOf(present) !== this.#place) return false
    return this.#mayBeTooLong || present.size === this.length
  }

  /** Writes lines in a single write, with fsync to the disk. @throws system errors, without any of them in the file */
  append(lines: string): void {
    const bytes = Buffer.from(lines)
    try {
      this.#cutToLength()
      writeAll(this.#disk, this.#fd, bytes)
      if (this.#fsync) this.#disk.sync(this.#fd)
      this.length += bytes.length
    } catch (error) {
      this.#mayBeTooLong = true
      try {
        this.#cutToLength()
      } catch {
        // The next write tries again.
      }
      throw error
    }
  }

  /** @param isOurs whether no other process may use the file; then an empty one is removed */
  close(isOurs: boolean): void {
    closeSync(this.#fd)
    if (isOurs && this.length === 0) rmSync(this.#file, { force: true })
  }

  #cutToLength(): void {
    if (!this.#mayBeTooLong) return
    this.#disk.truncate(this.#fd, this.length)
    this.#mayBeTooLong = false
  }
}

function line(kind: 'journal' | 'commit' | 'folded', content: string): string {
  const text = `"${kind}":${content}`
  return `{"crc":"${crc32(text).toString(16).padStart(8, '0')}",${text}}\n`
}

/** @param document checksum of the document that the journal continues */
export function firstLine(document: string): string {
  return line('journal', JSON.stringify({ version: JOURNAL_VERSION, document }))
}

/** The document with this checksum contains all commits before. */
export function foldedLine(document: string): string {
  return line('folded', JSON.stringify(document))
}

/** One line, so that a crash keeps all changes of a commit or none. */
export function commitLine(changes: readonly Change[]): string {
  return line('commit', `[${changes.map(changeText).join(',')}]`)
}

function changeText(change: Change): string {
  switch (change.kind) {
    case 'pet':
      return `{"kind":"pet","pet":${recordText(change.pet)}${change.rank === undefined ? '' : `,"rank":${change.rank}`}}`
    case 'replaced': {
      const { pets, keys, ...others } = change.state
      const rest = stringifyJson({ ...others, keys: keys.map(storedKey) }).slice(1)
      return `{"kind":"replaced","state":{"pets":[${pets.map(recordText).join(',')}],${rest}}`
    }
    default:
      return stringifyJson(change.kind === 'key' ? { ...change, key: storedKey(change.key) } : change)
  }
}

const rank = v.exactOptional(wholeNumber(0))

/** Changes besides pets. Recovery checks replaced states. */
const changeSchema = v.variant(
  'kind',
  [
    fields({ kind: v.literal('pet-removed'), id: int64 }),
    fields({ kind: v.literal('record'), resource: text, idProperty: text, entry: recordEntry, rank }),
    fields({ kind: v.literal('record-removed'), resource: text, scope: list(text), id: text }),
    fields({ kind: v.literal('key'), key: apiKey }),
    fields({ kind: v.literal('key-removed'), key: text }),
    fields({ kind: v.literal('replaced'), state: v.unknown() }),
  ],
  'a change',
)

export interface JournalContent {
  readonly changes: readonly Change[]
  /** Checksums of documents, with the number of changes that each contains already. */
  readonly documents: readonly (readonly [checksum: string, contained: number])[]
  /** Bytes of the valid lines. */
  readonly length: number
  /** Bytes of a truncated last line. */
  readonly tornBytes: number
}

/**
 * Reads a journal; a missing file counts as empty. A truncated last line was never acknowledged, and is left out.
 * Anything else is damage.
 * @throws StoreError STORE_CORRUPT with the line, STORE_VERSION, STORE_UNREADABLE
 */
export function readJournal(file: string, readPet: Reader<Pet>): JournalContent {
  const bytes = readBytes(file)
  const changes: Change[] = []
  const documents: [string, number][] = []
  let at = 0
  for (let number = 1; at < bytes.length; number++) {
    const end = bytes.indexOf('\n', at)
    if (end === -1 && !isWholeLine(bytes.subarray(at, -1))) break
    try {
      if (end === -1) throw new CorruptionError('its line feed is damaged')
      const { kind, content } = readLine(bytes.subarray(at, end))
      if (number === 1) documents.push([readFirst(kind, content), 0])
      else if (kind === 'folded') documents.push([check(text, content, 'it'), changes.length])
      else changes.push(...readCommit(kind, content, readPet))
    } catch (error) {
      if (error instanceof StoreError) throw error
      throw corrupt(file, new CorruptionError(`line ${number}: ${messageOf(error)}`))
    }
    at = end + 1
  }
  return { changes, documents, length: at, tornBytes: bytes.length - at }
}

function readBytes(file: string): Buffer {
  try {
    // A cloned folder may contain a link: appending through it would write to any file of the user.
    assertRegularFile(lstatSync(file))
    return readRegularFile(file)
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return Buffer.alloc(0)
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  }
}

const LINE = /^\{"crc":"([0-9a-f]{8})",("([a-z]+)":.*)\}$/s
const EARLIER_VERSION = /^\{"(?:journal|kind)":/

function readLine(bytes: Buffer): { readonly kind: string; readonly content: unknown } {
  const whole = bytes.toString()
  const [, crc, text = '', kind = ''] = LINE.exec(whole) ?? []
  if (crc === undefined && EARLIER_VERSION.test(whole)) throw otherVersion('an earlier version')
  if (crc === undefined) throw new CorruptionError('its checksum is missing')
  // Of the bytes, which need not be valid UTF-8.
  const start = '{"crc":"12345678",'.length
  if (crc32(bytes.subarray(start, -1)) !== Number.parseInt(crc, 16))
    throw new CorruptionError('its checksum does not match its content')
  return { kind, content: Object(parseJson(`{${text}}`))[kind] }
}

function isWholeLine(bytes: Buffer): boolean {
  try {
    readLine(bytes)
    return true
  } catch {
    return false
  }
}

function otherVersion(version: string): StoreError {
  return new StoreError(
    'STORE_VERSION',
    `The journal has ${version}, this release reads version ${JOURNAL_VERSION}. Start and stop the release that wrote it, which folds the journal into the document; choose another file with --store; or discard both with --reset.`,
  )
}

function readFirst(kind: string, content: unknown): string {
  if (kind !== 'journal') throw new CorruptionError('it is not the first line of a journal')
  const { version, document } = check(record, content, 'it')
  if (version !== JOURNAL_VERSION) throw otherVersion(`version ${stringifyJson(version ?? null)}`)
  return check(text, document, 'document')
}

const record = v.looseObject({}, 'an object')

function readCommit(kind: string, content: unknown, readPet: Reader<Pet>): readonly Change[] {
  if (kind !== 'commit') throw new CorruptionError(`"${kind}" is unknown`)
  return check(list(v.unknown()), content, 'the commit').map((change) => readChange(change, readPet))
}

function readChange(content: unknown, readPet: Reader<Pet>): Change {
  const change: { readonly kind?: unknown; readonly pet?: unknown; readonly rank?: unknown } = Object(content)
  // Not by the schema, because most lines are pets.
  if (change.kind === 'pet') {
    const pet = readPet(change.pet, 'pet')
    return change.rank === undefined
      ? { kind: 'pet', pet }
      : { kind: 'pet', pet, rank: check(wholeNumber(0), change.rank, 'rank') }
  }
  const read = check(changeSchema, content, '')
  return read.kind === 'replaced' ? { ...read, state: read.state as StoredState } : read
}
