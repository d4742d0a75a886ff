import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { packageVersion } from './package-files.js'
import { makeFolder, realPath } from './regular-file.js'
import type { Environment } from './this-process.js'

const STICKY = 0o1000
const WRITABLE_BY_OTHERS = 0o022

/**
 * A folder for Node's compile cache that only the user can write to, because Node runs cached code without checking its
 * origin. Node's default is a fixed name in the temporary folder, which another user may have created. Removes the folders
 * of older versions.
 *
 * @returns undefined if the folder cannot be created, or another user could write to it
 */
export function openCompileCache(env: Environment = process.env, version = packageVersion): string | undefined {
  try {
    const root = cacheRoot(env)
    // A relative path would lead into the current folder, which may be cloned.
    if (!isAbsolute(root)) return undefined
    const versions = join(realPath(root), 'petstore-sandbox')
    const folder = join(versions, version)
    if (!isPrivate(existing(folder))) return undefined
    const isNew = makeFolder(folder) !== undefined
    if (!isPrivate(folder)) return undefined
    if (isNew) removeOlder(versions, version)
    return folder
  } catch {
    // Such as a read-only disk, or a user without a home.
    return undefined
  }
}

/** @source XDG Base Directory Specification, Environment variables */
function cacheRoot({ XDG_CACHE_HOME = '', LOCALAPPDATA = '' }: Environment): string {
  if (process.platform === 'win32') return LOCALAPPDATA
  if (isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME
  return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache')
}

function existing(folder: string): string {
  return lstatSync(folder, { throwIfNoEntry: false }) === undefined ? existing(dirname(folder)) : folder
}

/** @param folder without symbolic links. On Windows, access lists protect the user's folders. */
function isPrivate(folder: string): boolean {
  if (process.platform === 'win32') return true
  const user = process.geteuid?.()
  const own = lstatSync(folder)
  return own.uid === user && own.isDirectory() && (own.mode & WRITABLE_BY_OTHERS) === 0 && isSafeBelow(dirname(folder))

  /** Whether only the user and root can replace entries of a folder. */
  function isSafeBelow(above: string): boolean {
    const { uid, mode }: Stats = lstatSync(above)
    const isOurs = uid === user || uid === 0
    if (!isOurs || ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)) return false
    return above === dirname(above) || isSafeBelow(dirname(above))
  }
}

function removeOlder(versions: string, version: string): void {
  for (const name of readdirSync(versions))
    if (name.localeCompare(version, 'en', { numeric: true }) < 0) rmSync(join(versions, name), { recursive: true })
}
