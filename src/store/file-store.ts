import { lstatSync, rmSync } from 'node:fs'
import { type Bytes, counted, MIB } from '../domain/numbers.js'
import { StoreFull } from '../domain/problems.js'
import { type Change, EMPTY_STATE, type StoredState } from '../domain/state.js'
import { openInSteps } from '../system/cleanup-stack.js'
import { messageOf } from '../system/message-of.js'
import { removeDrafts } from '../system/regular-file.js'
import { setImmediate } from '../system/system-clock.js'
import { type Disk, REAL_DISK } from './disk.js'
import { Document, keepCopy, keepForeign } from './document.js'
import {
  commitLine,
  firstLine,
  foldedLine,
  Journal,
  type JournalContent,
  readJournal,
  resourceLine,
} from './journal.js'
import { type Layout, Reading } from './layout.js'
import type { Lock } from './lock.js'
import { recover } from './recovery.js'
import { cannot, StoreError } from './store-error.js'
import { lockFile } from './store-path.js'
import { VERSION_1 } from './version-1.js'

export interface StoreOptions {
  readonly fsync: boolean
  readonly warn: (message: string) => void
  readonly now: () => number
  /** Limit of document and journal together. Folding temporarily adds a new document. */
  readonly maxBytes: Bytes
  /** Discards the stored state, also a damaged one, of which a copy is kept beside. */
  readonly reset?: boolean
  readonly disk?: Disk
  readonly layout: Layout
}

interface OpenedFileStore {
  readonly state: StoredState | undefined
  readonly store: FileStore
}

/** Smaller journals are not folded while running: from 4 MiB on, it took a fifth of the time of each write (`npm run bench`). */
const MIN_FOLD_BYTES: Bytes = 16 * MIB

/** Folding a full store may free space. Folding is tried again once the journal has this share of the document. */
const MIN_FULL_FOLD_RATIO = 1 / 16

/** The resources of a change: the next start may have another contract. */
function resourcesOf(change: Change): readonly string[] {
  if ('resource' in change) return [change.resource]
  return change.kind === 'replaced' ? change.state.records.map(([name]) => name) : NO_NAMES
}

const NO_NAMES: readonly string[] = []

/** Before most changes. */
const NO_LINES = { lines: '', names: new Set<string>() }

/**
 * Opens the store of a file: locks it, reads the document, applies the journal. Writes only the lock.
 * @throws StoreError STORE_LOCKED, STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE, STORE_UNWRITABLE
 */
export function openFileStore(named: string, options: StoreOptions): Promise<OpenedFileStore> {
  return openInSteps(async (opened) => {
    const { file, lock } = await lockFile(named, options)
    opened.defer(() => lock.release())
    const { layout, disk = REAL_DISK, warn, reset = false } = options
    const document = new Document(file, { ...options, disk })
    const journalFile = `${file}.journal`
    let found: Stored
    let isDamaged = false
    try {
      found = readStored(document, readJournal(journalFile, layout), layout, warn)
    } catch (error) {
      isDamaged = error instanceof StoreError && DISCARDABLE.has(error.code)
      if (!isDamaged || !reset) throw error
      found = { state: undefined, length: 0, isVersion1: false, isRenamed: false }
    }
    const unserved = reset ? undefined : found.state && layout.unserved(found.state)
    if (unserved !== undefined) warn(unserved)
    try {
      const journal = new Journal(journalFile, found.length, options.fsync, disk)
      opened.defer(() => journal.close(false))
      const { state, ...form } = found
      const store = new FileStore({ document, journal, journalFile, lock, disk, options, isDamaged, ...form })
      return { state: reset ? undefined : state, store }
    } catch (error) {
      throw cannot('STORE_UNWRITABLE', 'write to', journalFile, error)
    }
  })
}

interface Stored {
  readonly state: StoredState | undefined
  /** Of the journal. */
  readonly length: number
  /** Document or journal have the form of an earlier release. */
  readonly isVersion1: boolean
  /** The document has resources under earlier names. */
  readonly isRenamed: boolean
}

const DISCARDABLE: ReadonlySet<string> = new Set(['STORE_CORRUPT', 'STORE_VERSION'])

function readStored(
  document: Document,
  { changes, documents, length, tornBytes, ...journal }: JournalContent,
  layout: Layout,
  warn: StoreOptions['warn'],
): Stored {
  const { file } = document
  const reading = new Reading()
  const stored = document.read(reading)
  const { isVersion1 } = document
  const isRenamed = reading.renamed.length > 0
  for (const note of reading.renamed) warn(`"${file}": ${note}`)
  if (reading.converted > 0)
    warn(`"${file}": ids that are texts are read as integers, as the contract has them (${reading.converted}).`)
  if (tornBytes > 0)
    warn(`The last line of "${file}.journal" is incomplete. It was dropped (${counted(tornBytes, 'byte')}).`)
  if (changes.length === 0) return { state: stored, length: 0, isVersion1, isRenamed }
  const [, contained = 0] = documents.findLast(([checksum]) => checksum === document.checksum) ?? [undefined]
  if (documents.every(([checksum]) => checksum !== document.checksum)) checkOtherDocument(file, stored, changes, warn)
  // The sandbox crashed between writing the document and clearing the journal.
  if (contained === changes.length) return { state: stored, length: 0, isVersion1, isRenamed }
  const state = recover(stored ?? EMPTY_STATE, changes.slice(contained), layout)
  return { state, length, isVersion1: isVersion1 || journal.isVersion1, isRenamed }
}

/** After a crash, the document was edited, replaced or removed. Changes are absolute, so that they apply to any document. */
function checkOtherDocument(
  file: string,
  stored: StoredState | undefined,
  changes: readonly Change[],
  warn: StoreOptions['warn'],
): void {
  const count = counted(changes.length, 'change')
  if (stored !== undefined) {
    warn(
      `"${file}" was edited or replaced after a crash. The journal's ${count} since its last version are added to it.`,
    )
    return
  }
  if (changes.some(({ kind }) => kind === 'replaced')) return
  throw new StoreError(
    'STORE_CORRUPT',
    `"${file}" is missing, but "${file}.journal" has ${count} to it. Restore the file, delete the journal to go on without these changes, or start over with --reset.`,
  )
}

interface StoreParts extends Pick<Stored, 'isVersion1' | 'isRenamed'> {
  readonly document: Document
  readonly journal: Journal
  readonly journalFile: string
  readonly lock: Lock
  readonly disk: Disk
  readonly options: StoreOptions
  readonly isDamaged: boolean
}

/** A document and the journal of what was committed since. Use openFileStore. */
export class FileStore {
  readonly #document: Document
  readonly #lock: Lock
  readonly #parts: StoreParts
  #journal: Journal
  #foldAt: Bytes = MIN_FOLD_BYTES
  #foldFullAt: Bytes = 0
  #hasWarnedFull = false
  #isChecked = false
  /** Resources that the journal describes. */
  readonly #described = new Set<string>()
  #current: (() => StoredState) | undefined
  #isClosed = false

  constructor(parts: StoreParts) {
    this.#document = parts.document
    this.#journal = parts.journal
    this.#lock = parts.lock
    this.#parts = parts
  }

  /**
   * Writes the first document of a new store, or folds a journal left by a crash, or files of an earlier release.
   * @param current returns the committed state, without changes that are being appended
   * @throws StoreError STORE_UNWRITABLE if a new, discarded or earlier store cannot be written: its files are as before
   */
  start(current: () => StoredState): void {
    const { isDamaged, isVersion1, isRenamed, options, journalFile } = this.#parts
    const { file } = this.#document
    this.#current = current
    const isNew = this.#document.checksum === undefined || options.reset === true
    const { length } = this.#journal
    removeDrafts(file)
    try {
      if (isDamaged) this.#keepDamaged()
      if (isNew || isVersion1 || isRenamed || this.#journal.length > 0) this.#fold(current)
      else this.#renewJournal()
      if (isVersion1 && !isNew)
        options.warn(
          `"${file}" is of an earlier release. It was converted, and a copy is kept in "${file}.${VERSION_1}".`,
        )
    } catch (error) {
      if (isVersion1) this.#journal.cut(length)
      if (isNew || isVersion1) this.#current = undefined
      if (isNew || isVersion1) throw cannot('STORE_UNWRITABLE', 'write', file, error)
      options.warn(`"${journalFile}" could not be folded into "${file}" (${messageOf(error)}). No changes are lost.`)
    }
  }

  #keepDamaged(): void {
    const { options, journalFile } = this.#parts
    this.#document.discard()
    if (lstatSync(journalFile).size === 0) return
    options.warn(`"${journalFile}" is discarded. A copy is kept in "${keepCopy(journalFile, options.now())}".`)
  }

  /**
   * Writes the changes of one commit: all or none. Call it before they take effect.
   * @throws StoreFull beyond `maxBytes`; StoreError STORE_WRITE_FAILED (also for a full disk), STORE_CLOSED
   */
  append(changes: readonly Change[]): void {
    if (this.#isClosed) throw new StoreError('STORE_CLOSED', 'The store is closed. No more changes can be written.')
    const { journalFile } = this.#parts
    try {
      this.#foldIfNecessary()
      const commit = commitLine(changes, this.#parts.options.layout)
      this.#makeRoom(changes, Buffer.byteLength(commit))
      const { lines, names } = this.#linesBefore(changes)
      this.#journal.append(lines + commit)
      for (const name of names) this.#described.add(name)
    } catch (error) {
      if (error instanceof StoreFull) throw error
      throw cannot('STORE_WRITE_FAILED', 'write to', journalFile, error)
    }
  }

  /** The first line of the journal, and descriptions of resources. */
  #linesBefore(changes: readonly Change[]): { readonly lines: string; readonly names: ReadonlySet<string> } {
    if (this.#journal.length === 0) this.#described.clear()
    else if (changes.every((change) => resourcesOf(change).every((name) => this.#described.has(name)))) return NO_LINES
    const names = new Set(changes.flatMap(resourcesOf))
    const added = [...names].flatMap((name) =>
      this.#described.has(name) ? [] : (this.#parts.options.layout.find(name) ?? []),
    )
    const first = this.#journal.length === 0 ? firstLine(this.#document.checksum ?? '') : ''
    return { lines: first + added.map(resourceLine).join(''), names }
  }

  /**
   * Folds the journal and releases the file. If folding fails, the journal has the changes, and a warning says so.
   * @throws StoreError STORE_LOST, after releasing everything, if the store was removed while in use
   */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      if (this.#current !== undefined && (this.#journal.length > 0 || !this.#document.isUnchanged)) {
        this.#assertLock()
        this.#fold(this.#current)
      }
    } catch (error) {
      this.#report(error)
    } finally {
      // The start has failed before it copied the damaged journal.
      const { isDamaged, journalFile } = this.#parts
      const { size = 0 } = lstatSync(journalFile, { throwIfNoEntry: false }) ?? {}
      const isKept = isDamaged && this.#current === undefined && size > 0
      this.#journal.close(this.#lock.isHeld() && !isKept)
      this.#lock.release()
    }
  }

  #report(error: unknown): void {
    const { file, exists } = this.#document
    if (!this.#journal.isUnchanged || !exists) {
      throw new StoreError(
        'STORE_LOST',
        `"${file}" was removed or moved while the sandbox was running, and cannot be written again (${messageOf(error)}). Moved files are intact; removed files are lost.`,
        { cause: error },
      )
    }
    this.#warnNotFolded(error)
  }

  #warnNotFolded(error: unknown): void {
    this.#parts.options.warn(
      `"${this.#document.file}" could not be written (${messageOf(error)}). No changes are lost: the journal has them.`,
    )
  }

  #assertLock(): void {
    if (this.#lock.isHeld()) return
    throw new Error(
      'its lock file was removed or taken over, or cannot be read, so another process may use the store; restart the sandbox',
    )
  }

  /** Before the next change is written: `current` has all others by then, and not this one. */
  #foldIfNecessary(): void {
    if (this.#current === undefined) return
    // Another program has removed, replaced or edited a file. Memory has everything.
    if (this.#haveFilesChanged()) this.#fold(this.#current)
    else if (this.#journal.length > Math.max(this.#foldAt, this.#document.bytes)) this.#foldOrWarn()
  }

  /** Looked up once a turn of the event loop: for each change, it takes as long as everything else (`npm run bench`). */
  #haveFilesChanged(): boolean {
    if (this.#isChecked) return false
    this.#assertLock()
    if (!this.#journal.isUnchanged || !this.#document.isUnchanged) return true
    this.#isChecked = true
    setImmediate(() => {
      this.#isChecked = false
    })
    return false
  }

  #foldOrWarn(): void {
    try {
      if (this.#current !== undefined) this.#fold(this.#current)
    } catch (error) {
      this.#foldAt = this.#journal.length * 2
      this.#foldFullAt = this.#journal.length * 2
      this.#warnNotFolded(error)
    }
  }

  /** A full store still accepts removals and replaced states. @throws StoreFull */
  #makeRoom(changes: readonly Change[], bytes: Bytes): void {
    const { warn, maxBytes } = this.#parts.options
    const isFull = () => this.#document.bytes + this.#journal.length + bytes > maxBytes
    // A replaced state has the keys.
    const isSmaller = ({ kind }: Change) => kind === 'replaced' || kind === 'remove' || kind === 'key-removed'
    const isReplaced = changes.some(({ kind }) => kind === 'replaced')
    if (changes.every((change) => isSmaller(change) || (isReplaced && change.kind === 'key'))) {
      this.#foldFullAt = 0
      return
    }
    if (isFull() && this.#journal.length > 0 && this.#journal.length >= this.#foldFullAt) this.#foldOrWarn()
    if (!isFull()) return
    const full = new StoreFull(`"${this.#document.file}"`, maxBytes)
    if (!this.#hasWarnedFull) warn(full.message)
    this.#hasWarnedFull = true
    throw full
  }

  /**
   * Writes a new document and clears the journal. Before the document is replaced, a line in the journal names it: a
   * start after a crash in between skips the changes that the document contains.
   */
  #fold(current: () => StoredState): void {
    this.#document.write(current(), (checksum) => {
      // Writing may have taken long enough for another process to take the store over.
      this.#assertLock()
      if (!this.#journal.isUnchanged || this.#journal.length === 0) return
      if (this.#document.isVersion1) keepForeign(this.#parts.journalFile, VERSION_1)
      this.#journal.append(foldedLine(checksum))
    })
    this.#renewJournal()
    this.#foldAt = MIN_FOLD_BYTES
    this.#foldFullAt = this.#document.bytes * MIN_FULL_FOLD_RATIO
  }

  /** A new file: a process that has lost the store still has the old one open. */
  #renewJournal(): void {
    const { journalFile, options, disk } = this.#parts
    this.#assertLock()
    this.#journal.close(false)
    rmSync(journalFile, { force: true })
    this.#journal = new Journal(journalFile, 0, options.fsync, disk)
  }
}
