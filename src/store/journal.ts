import { closeSync, constants, fstatSync, lstatSync, rmSync, statSync } from 'node:fs'
import * as v from 'valibot'
import { parseJson, stringifyJson } from '../contract/json.js'
import { withoutParentFields } from '../domain/parents.js'
import { recordText } from '../domain/records.js'
import type { Change } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { assertRegularFile, openRegularFile, readRegularFile, syncFolder } from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { type Disk, placeOf, writeAll } from './disk.js'
import { contentText } from './document.js'
import { type Layout, type StoredResource, storedKey, written } from './layout.js'
import { apiKey, check, fields, list, record, text, wholeNumber } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'
import { JOURNAL_VERSION_1, readChange1 } from './version-1.js'

const JOURNAL_VERSION = 5

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
  #isClosed = false
  /** Its file may be new. */
  #isNameSynced = false

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
    if (this.#isClosed) return false
    const present = statSync(this.#file, { throwIfNoEntry: false })
    if (present === undefined || placeOf(present) !== this.#place) return false
    return this.#mayBeTooLong || present.size === this.length
  }

  /** Writes lines in a single write, with fsync to the disk. @throws system errors, without any of them in the file */
  append(lines: string): void {
    // Its number may be another file's by now.
    if (this.#isClosed) throw new Error('The journal could not be opened again.')
    const bytes = Buffer.from(lines)
    try {
      this.#cutToLength()
      writeAll(this.#disk, this.#fd, bytes)
      if (this.#fsync) {
        this.#disk.sync(this.#fd)
        if (!this.#isNameSynced) syncFolder(this.#file)
        this.#isNameSynced = true
      }
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

  /** Drops lines that were just written. */
  cut(length: number): void {
    this.length = length
    this.#mayBeTooLong = true
    this.#cutToLength()
  }

  /** @param isOurs whether no other process may use the file; then an empty one is removed */
  close(isOurs: boolean): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#fd)
    if (isOurs && this.length === 0) rmSync(this.#file, { force: true })
  }

  #cutToLength(): void {
    if (!this.#mayBeTooLong) return
    // Windows cannot truncate a file that is open for appending.
    const fd = openRegularFile(this.#file, constants.O_RDWR)
    try {
      if (placeOf(fstatSync(fd)) !== this.#place) throw new Error('The journal was replaced.')
      this.#disk.truncate(fd, this.length)
    } finally {
      closeSync(fd)
    }
    this.#mayBeTooLong = false
  }
}

type LineKind = 'journal' | 'resource' | 'commit' | 'folded'

function line(kind: LineKind, content: string): string {
  const text = `"${kind}":${content}`
  return `{"crc":"${crc32(text).toString(16).padStart(8, '0')}",${text}}\n`
}

/** @param document checksum of the document that the journal continues */
export function firstLine(document: string): string {
  return line('journal', JSON.stringify({ version: JOURNAL_VERSION, document }))
}

/** Comes before the first change of a resource: the next start may have another contract. */
export function resourceLine({ name, path, id, parents }: StoredResource): string {
  return line('resource', stringifyJson([name, path, id.property, parents.map(({ field }) => field)]))
}

/** The document with this checksum contains all commits before. */
export function foldedLine(document: string): string {
  return line('folded', JSON.stringify(document))
}

/** One line, so that a crash keeps all changes of a commit or none. */
export function commitLine(changes: readonly Change[], layout: Layout): string {
  return line('commit', `[${changes.map((change) => changeText(change, layout)).join(',')}]`)
}

function changeText(change: Change, layout: Layout): string {
  switch (change.kind) {
    case 'put': {
      const { resource, record, rank } = change
      const text = recordText(written(layout.find(resource)?.parents ?? [], record.scope, record.value))
      return `{"kind":"put","resource":${JSON.stringify(resource)},"record":${text}${rank === undefined ? '' : `,"rank":${rank}`}}`
    }
    case 'replaced':
      return `{"kind":"replaced","state":${contentText(layout.write(change.state))}}`
    case 'key':
      return stringifyJson({ ...change, key: storedKey(change.key) })
    default:
      return stringifyJson(change)
  }
}

const changeSchema = v.variant(
  'kind',
  [
    fields({ kind: v.literal('put'), resource: text, record, rank: v.exactOptional(wholeNumber) }),
    fields({ kind: v.literal('remove'), resource: text, scope: list(text), id: text }),
    fields({ kind: v.literal('key'), key: apiKey }),
    fields({ kind: v.literal('key-removed'), key: text }),
    fields({ kind: v.literal('replaced'), state: record }),
  ],
  'a change',
)

export interface JournalContent {
  /** Of a release whose journal this one folds at the start, before it writes another. */
  readonly isVersion1: boolean
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
 * Anything else is damage. Resources that the contract does not have are added to the layout.
 * @throws StoreError STORE_CORRUPT with the line, STORE_VERSION, STORE_UNREADABLE
 */
export function readJournal(file: string, layout: Layout): JournalContent {
  const bytes = readBytes(file)
  const changes: Change[] = []
  const documents: [string, number][] = []
  const resources = new Map<string, StoredResource>()
  let isVersion1 = false
  let at = 0
  for (let number = 1; at < bytes.length; number++) {
    const end = bytes.indexOf('\n', at)
    if (end === -1 && !isWholeLine(bytes.subarray(at, -1))) break
    try {
      if (end === -1) throw new CorruptionError('its line feed is damaged')
      const { kind, content } = readLine(bytes.subarray(at, end))
      if (number === 1) {
        const { version, document } = readFirst(kind, content)
        isVersion1 = version === JOURNAL_VERSION_1
        documents.push([document, 0])
      } else if (kind === 'folded') documents.push([check(text, content, 'it'), changes.length])
      else if (kind === 'resource') {
        const [name, path, property, fields] = check(resourceSchema, content, 'it')
        resources.set(name, layout.add(name, path, property, fields))
      } else if (kind !== 'commit') throw new CorruptionError(`"${kind}" is unknown`)
      else
        for (const change of check(list(v.unknown()), content, 'the commit'))
          if (isVersion1) changes.push(...readChange1(change, layout))
          else changes.push(readChange(change, layout, resources))
    } catch (error) {
      if (error instanceof StoreError) throw error
      throw corrupt(file, new CorruptionError(`line ${number}: ${messageOf(error)}`))
    }
    at = end + 1
  }
  return { isVersion1, changes, documents, length: at, tornBytes: bytes.length - at }
}

const resourceSchema = v.strictTuple([text, text, text, list(text)], 'a resource')

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

function readFirst(kind: string, content: unknown): { readonly version: unknown; readonly document: string } {
  if (kind !== 'journal') throw new CorruptionError('it is not the first line of a journal')
  const { version, document } = check(record, content, 'it')
  if (version !== JOURNAL_VERSION && version !== JOURNAL_VERSION_1)
    throw otherVersion(`version ${stringifyJson(version ?? null)}`)
  return { version, document: check(text, document, 'document') }
}

function readChange(content: unknown, layout: Layout, resources: ReadonlyMap<string, StoredResource>): Change {
  const change = isPlainPut(content) ? content : check(changeSchema, content, '')
  if (change.kind === 'replaced') return { kind: 'replaced', state: layout.read(change.state) }
  if (change.kind !== 'put' && change.kind !== 'remove') return change
  const resource = resources.get(change.resource)
  if (resource === undefined) throw new CorruptionError(`nothing describes the resource "${change.resource}"`)
  if (change.kind === 'remove') return { ...change, resource: resource.name }
  const { kind, rank } = change
  const nested = withoutParentFields(resource.parents, change.record)
  if (typeof nested === 'string') throw new CorruptionError(`record.${nested} is missing`)
  return { kind, resource: resource.name, record: nested, ...(rank !== undefined && { rank }) }
}

type Put = Extract<v.InferOutput<typeof changeSchema>, { kind: 'put' }>

/** Most lines are such changes, for which the schema takes long. */
function isPlainPut(content: unknown): content is Put {
  const { kind, resource, record: value, rank }: Partial<Put> = Object(content)
  return kind === 'put' && typeof resource === 'string' && rank === undefined && v.is(record, value)
}
