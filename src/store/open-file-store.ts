import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { counted } from '../domain/numbers.js'
import type { SpaceState } from '../domain/state.js'
import { openInSteps } from '../system/cleanup-stack.js'
import { assertRegularFile, isInOwnFolder, makeFolder, UnusableFile } from '../system/regular-file.js'
import { DocumentFile } from './document.js'
import { type FoundDocument, readDocument } from './document-format.js'
import { FileStore, type StoreOptions } from './file-store.js'
import { Journal, REAL_DISK, syncFolder } from './journal.js'
import { type JournalContent, readJournal } from './journal-lines.js'
import { acquireLock, type Lock } from './lock.js'
import { Recovery } from './recovery.js'
import { CorruptionError, cannot, corrupt, StoreError } from './store-error.js'

interface OpenedFileStore {
  readonly state: SpaceState | undefined
  readonly store: FileStore
}

/**
 * Opens the store of a file: locks it, reads the document, replays the journal. Writes only the lock.
 * @throws StoreError STORE_LOCKED, STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE, STORE_UNWRITABLE
 */
export function openFileStore(named: string, options: StoreOptions): Promise<OpenedFileStore> {
  return openInSteps(async (opened) => {
    const { file, lock } = await lockFile(named, options.fsync)
    opened.defer(() => lock.release())
    const journalFile = `${file}.journal`
    const found = await readDocument(file, options.readPet)
    const content = readJournal(journalFile, found?.checksum.toString(), options.readPet)
    const state = recover(found, content, file, options)
    if (content.tornBytes > 0) {
      options.warn(
        `The last line of "${journalFile}" is incomplete. It was dropped (${counted(content.tornBytes, 'byte')}).`,
      )
    }
    const document = new DocumentFile(file, found?.stamp, options)
    try {
      document.discard()
      const journal = new Journal(journalFile, content.end, options.fsync, options.disk ?? REAL_DISK)
      opened.defer(() => journal.close())
      const store = new FileStore(document, journal, lock, options, found?.checksum.bytes)
      if (content.endsOpen) await journal.endLine()
      if (options.fsync) await syncFolder(journalFile)
      return { state, store }
    } catch (error) {
      throw cannot('STORE_UNWRITABLE', 'write to', journalFile, error)
    }
  })
}

async function lockFile(named: string, fsync: boolean): Promise<{ readonly file: string; readonly lock: Lock }> {
  try {
    const file = await prepareStoreFile(named, fsync)
    return { file, lock: await acquireLock(`${file}.lock`) }
  } catch (error) {
    if (error instanceof UnusableFile) throw cannot('STORE_UNREADABLE', 'read', named, error)
    throw cannot('STORE_UNWRITABLE', 'write beside', named, error)
  }
}

function recover(
  found: FoundDocument | undefined,
  { changes }: JournalContent,
  file: string,
  { readPet }: StoreOptions,
): SpaceState | undefined {
  if (found === undefined && changes.length === 0) return undefined
  // Without its document, a journal is incomplete, unless it replaced the whole state.
  if (found === undefined && !changes.some(({ kind }) => kind === 'replaced')) {
    throw new StoreError(
      'STORE_CORRUPT',
      `"${file}" is missing, but "${file}.journal" has ${counted(changes.length, 'change')} to it. Restore the file, or delete the journal to start over.`,
    )
  }
  const recovery = found?.recovery ?? new Recovery(readPet)
  try {
    for (const change of changes) recovery.apply(change)
  } catch (error) {
    throw error instanceof CorruptionError ? corrupt(`${file}.journal`, error) : error
  }
  return recovery.state()
}

/** @source path_resolution(7) */
const MAX_LINKS = 40

/**
 * Resolves links, so that two names of a file lead to the same store, and creates the folder.
 * @throws UnusableFile, before any write beside a device; system errors
 */
async function prepareStoreFile(file: string, fsync: boolean): Promise<string> {
  const named = resolve(file)
  if (isInOwnFolder(named)) assertNoLink(named)
  let target = named
  for (let links = 0; links < MAX_LINKS && isLink(target); links++)
    target = resolve(dirname(target), readlinkSync(target))
  const stats = lstatSync(target, { throwIfNoEntry: false })
  if (stats !== undefined) assertRegularFile(stats)
  // A cloned folder may contain such a link, to a file that a shell would run.
  else if (target !== named) throw new UnusableFile(`it is a symbolic link to "${target}", which does not exist`)
  const folder = dirname(target)
  const firstCreated = makeFolder(folder)
  if (fsync && firstCreated !== undefined) {
    for (let created = folder; created.length >= firstCreated.length; created = dirname(created)) {
      await syncFolder(created)
    }
  }
  return join(realpathSync(folder), basename(target))
}

function assertNoLink(file: string): void {
  if (isLink(file)) throw new UnusableFile('it is a symbolic link. Name a store elsewhere with --store')
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}
