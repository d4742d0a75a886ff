import type { SpaceState } from '../domain/state.js'
import { makePrivate, UnusableFile } from '../system/regular-file.js'
import { REAL_DISK } from './disk.js'
import { DocumentFile } from './document.js'
import { readDocument } from './document-reader.js'
import { FileStore, type StoreOptions } from './file-store.js'
import { Journal } from './journal.js'
import { type JournalContent, readJournal } from './journal-reader.js'
import { acquireLock, type Lock } from './lock.js'
import { Recovery } from './recovery.js'
import { CorruptionError, cannot, corrupt, StoreError } from './store-error.js'
import { prepareStoreFile } from './store-file.js'
import { syncFolder } from './sync-folder.js'

/** A store, and the state it had when opened: undefined for a new one. */
interface OpenedFileStore {
  readonly state: SpaceState | undefined
  readonly store: FileStore
}

/**
 * Opens the store of a file: locks it, reads the document, replays the journal. Only the lock is written yet.
 *
 * @throws StoreError STORE_LOCKED, STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE, STORE_UNWRITABLE
 */
export async function openFileStore(file: string, options: StoreOptions): Promise<OpenedFileStore> {
  let path: string
  let lock: Lock
  try {
    path = await prepareStoreFile(file, options.fsync)
    lock = acquireLock(`${path}.lock`)
  } catch (error) {
    if (error instanceof UnusableFile) throw cannot('STORE_UNREADABLE', 'read', file, error)
    throw cannot('STORE_UNWRITABLE', 'write beside', file, error)
  }
  try {
    return await openLocked(path, lock, options)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openLocked(file: string, lock: Lock, options: StoreOptions): Promise<OpenedFileStore> {
  const journalFile = `${file}.journal`
  const found = await readDocument(file, options.readPet)
  const content = readJournal(journalFile, found?.checksum.toString(), options.readPet)
  for (const path of [file, journalFile]) makePrivate(path)
  const state = recover(
    found?.recovery ?? new Recovery(options.readPet),
    found !== undefined,
    content,
    file,
    journalFile,
  )
  if (content.tornBytes > 0) {
    options.warn(`The last line of "${journalFile}" was cut short; its ${content.tornBytes} bytes are dropped.`)
  }
  const document = new DocumentFile(file, found?.stamp, options)
  try {
    document.discard()
    const journal = new Journal(journalFile, content.end, options.fsync, options.disk ?? REAL_DISK)
    const store = new FileStore(document, journal, lock, options, found?.checksum.bytes)
    if (content.endsOpen) await journal.endLine()
    if (options.fsync) await syncFolder(journalFile)
    return { state, store }
  } catch (error) {
    throw cannot('STORE_UNWRITABLE', 'write to', journalFile, error)
  }
}

function recover(
  recovery: Recovery,
  isFound: boolean,
  { changes }: JournalContent,
  file: string,
  journalFile: string,
): SpaceState | undefined {
  if (!isFound && changes.length === 0) return undefined
  // Without its document a journal is only part of the state, unless it replaced the whole state.
  if (!isFound && !changes.some(({ kind }) => kind === 'replaced')) {
    throw new StoreError(
      'STORE_CORRUPT',
      `"${file}" is missing, but "${journalFile}" holds changes to it (${changes.length}). Put the file back, or delete the journal to start afresh.`,
    )
  }
  try {
    for (const change of changes) recovery.apply(change)
  } catch (error) {
    throw error instanceof CorruptionError ? corrupt(journalFile, error) : error
  }
  return recovery.state()
}
