import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  assertRegularFile,
  isInOwnFolder,
  makeFolder,
  mountPoints,
  syncFolder,
  UnusableFile,
} from '../system/regular-file.js'
import { acquireLock, type Lock } from './lock.js'
import { cannot, StoreError } from './store-error.js'

/** Resolves the path of a store, and locks it. @throws StoreError STORE_LOCKED, STORE_UNREADABLE, STORE_UNWRITABLE */
export async function lockFile(
  named: string,
  { fsync, warn }: { readonly fsync: boolean; readonly warn: (message: string) => void },
): Promise<{ readonly file: string; readonly lock: Lock }> {
  try {
    const file = prepareStoreFile(named, fsync)
    for (const path of [file, `${file}.journal`, `${file}.lock`]) assertNotMounted(path)
    return { file, lock: await acquireLock(`${file}.lock`, { warn }) }
  } catch (error) {
    if (error instanceof UnusableFile) throw cannot('STORE_UNREADABLE', 'read', named, error)
    throw cannot('STORE_UNWRITABLE', 'write beside', named, error)
  }
}

/** @source path_resolution(7) */
const MAX_LINKS = 40

/**
 * Resolves links, so that two names of a file lead to the same store, and creates the folder.
 * @throws UnusableFile, before any write beside a device; system errors
 */
function prepareStoreFile(file: string, fsync: boolean): string {
  const named = resolve(file)
  if (isInOwnFolder(named) && isLink(named))
    throw new UnusableFile('it is a symbolic link. Name a store elsewhere with --store')
  let target = named
  for (let links = 0; links < MAX_LINKS && isLink(target); links++)
    target = resolve(dirname(target), readlinkSync(target))
  const stats = lstatSync(target, { throwIfNoEntry: false })
  if (stats !== undefined) assertRegularFile(stats)
  // A cloned folder may contain such a link, to a file that a shell would run.
  else if (target !== named) throw new UnusableFile(`it is a symbolic link to "${target}", which does not exist`)
  const folder = dirname(target)
  const firstCreated = makeFolder(folder)
  if (fsync && firstCreated !== undefined)
    for (let created = folder; created.length >= firstCreated.length; created = dirname(created)) syncFolder(created)
  return join(realpathSync(folder), basename(target))
}

/** Refuses a file that is a mount point, as container volumes can be: it cannot be replaced, and its folder is not shared. */
function assertNotMounted(path: string): void {
  if (!mountPoints().includes(path)) return
  throw new StoreError(
    'STORE_UNWRITABLE',
    `"${path}" is mounted as a single file, so the sandbox cannot replace it. Mount its folder instead ("${dirname(path)}").`,
  )
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}
