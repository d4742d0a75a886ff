import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { randomSeed } from './this-process.js'

/** A path does not lead to a usable file. The message is a sentence part: `it is a FIFO, not a file`. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile'
}

/** Files may contain keys and request bodies: only the user may read them. */
export const PRIVATE_FILE = 0o600

/** For files that users asked for by name, such as reports: the umask decides who may read them. */
export const PROJECT_FILE = 0o666

/** Windows has neither this flag nor FIFOs among its files. */
const DO_NOT_WAIT = constants.O_NONBLOCK ?? 0

/**
 * Every file that a user may name is opened here. Other kinds are refused at once: a FIFO would block, and a device may
 * never end. Checked before and after opening, because the file may be replaced in between.
 *
 * @param flags of open(2)
 * @throws UnusableFile; system errors
 */
export function openRegularFile(file: string, flags: number): number {
  // Opening a device may have effects.
  const there = statSync(file, { throwIfNoEntry: false })
  if (there !== undefined) assertRegularFile(there)
  const fd = openSync(file, flags | DO_NOT_WAIT, PRIVATE_FILE)
  try {
    assertRegularFile(fstatSync(fd))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** @param most bytes; a larger file is refused before it is read @throws UnusableFile; system errors */
export function readRegularFile(file: string, most = Number.POSITIVE_INFINITY): Buffer {
  const fd = openRegularFile(file, constants.O_RDONLY)
  try {
    if (fstatSync(fd).size > most) throw tooLarge(most)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** @param most bytes */
export function readStart(file: string, most: number): Buffer {
  const fd = openRegularFile(file, constants.O_RDONLY)
  try {
    const bytes = Buffer.alloc(most)
    return bytes.subarray(0, readSync(fd, bytes))
  } finally {
    closeSync(fd)
  }
}

/** Pipes passed by a shell, such as `<(command)`, are open already and do not block. */
const SHELL_PIPE = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/

/** A regular file, or a pipe passed by the shell. @param most bytes @throws UnusableFile; system errors */
export function readInput(file: string, most: number): Buffer {
  if (!SHELL_PIPE.test(file)) return readRegularFile(file, most)
  const content = readFileSync(file)
  if (content.length > most) throw tooLarge(most)
  return content
}

function tooLarge(most: number): UnusableFile {
  return new UnusableFile(`it is larger than ${most / 1_000_000} MB`)
}

/** Does not follow links. @throws system errors, EEXIST if there is anything at the path */
export function openNewFile(file: string, mode = PRIVATE_FILE): number {
  return openSync(file, 'wx', mode)
}

/** Ends the names of drafts, so that they are distinct from the hidden files of other programs. */
const DRAFT_ENDING = '.petstore-sandbox'

/** A file that takes the place of another at once: readers never see half of it. */
export interface Replacement {
  readonly fd: number
  /** Closes the new file, and puts it in place. */
  commit(): void
  /** Closes and removes it, unless it is in place. */
  discard(): void
}

/**
 * A cloned folder may contain links to files elsewhere, also below names that a program uses for drafts. So the new file
 * has a random name, does not exist yet, and replaces whatever is at its place, but no link.
 * @param mode of a new file, less the umask @param keepsMode whether a file that is replaced keeps mode and owner
 * @throws UnusableFile; system errors
 */
export function openReplacement(file: string, mode = PRIVATE_FILE, keepsMode = false): Replacement {
  const present = lstatSync(file, { throwIfNoEntry: false })
  if (present !== undefined) assertRegularFile(present)
  const draft = join(dirname(file), `.${basename(file)}.${randomSeed().toString(36)}${DRAFT_ENDING}`)
  const fd = openNewFile(draft, mode)
  if (keepsMode && present !== undefined) takeMode(fd, present)
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(fd)
    isOpen = false
  }
  return {
    fd,
    commit() {
      close()
      renameSync(draft, file)
    },
    discard() {
      close()
      rmSync(draft, { force: true })
    },
  }
}

/** Another owner or group must not get the rights of the present one, so a file that cannot keep it stays private. */
function takeMode(fd: number, { mode, uid, gid }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
    fchmodSync(fd, mode & 0o777)
  } catch {
    // It belongs to somebody else, or the file system has no modes.
  }
}

/** Removes what killed processes have left of `openReplacement`. Call it only where no other process may be writing the file. */
export function removeDrafts(file: string): void {
  const folder = dirname(file)
  const start = `.${basename(file)}.`
  const isDraft = (name: string) =>
    name.startsWith(start) &&
    name.endsWith(DRAFT_ENDING) &&
    /^\w+$/.test(name.slice(start.length, -DRAFT_ENDING.length))
  try {
    for (const name of readdirSync(folder).filter(isDraft)) unlinkSync(join(folder, name))
  } catch {
    // They only take space.
  }
}

/** See `openReplacement`. @param sync whether it must survive a power cut before it replaces the file */
export function replaceFile(file: string, content: string | Uint8Array, mode?: number, sync = false): void {
  const { fd, commit, discard } = openReplacement(file, mode)
  try {
    writeFileSync(fd, content)
    if (sync) fsyncSync(fd)
    commit()
  } finally {
    discard()
  }
}

export function appendRegularFile(file: string, content: string): void {
  const fd = openRegularFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND)
  try {
    writeFileSync(fd, content)
  } finally {
    closeSync(fd)
  }
}

export function assertRegularFile(stats: Stats): void {
  if (!stats.isFile()) throw new UnusableFile(`it is ${kindOf(stats)}, not a file`)
}

/** A part of a message: the kind of the file, or the system's code. */
export function describeOpenError(error: unknown): string {
  if (error instanceof UnusableFile) return error.message
  return String(Object(error).code ?? error)
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a FIFO'
  if (stats.isSocket()) return 'a socket'
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
}

/** Whether a path, with its links followed, is in a folder or below. */
export function isInside(folder: string, path: string): boolean {
  const from = relative(realPath(folder), realPath(path))
  return !isAbsolute(from) && !/^\.\.([\\/]|$)/.test(from)
}

/**
 * Syncs the folder of a file, because syncing the file does not persist its name. Windows cannot sync folders and does
 * not need to.
 */
export function syncFolder(file: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(dirname(file), constants.O_RDONLY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Empty outside Linux. @source proc(5), /proc/pid/mountinfo: field 5 is the path, with some characters in octal */
export function mountPoints(): readonly string[] {
  try {
    const lines = readRegularFile('/proc/self/mountinfo').toString().split('\n')
    const decode = (_: string, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))
    return lines.map((line) => (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, decode))
  } catch {
    return []
  }
}

/** A path without symbolic links. The end of it need not exist. */
export function realPath(path: string): string {
  const above = dirname(path)
  try {
    return realpathSync(path)
  } catch {
    return above === path ? path : join(realPath(above), basename(path))
  }
}

export { join, resolve } from 'node:path'

/** Files may contain keys and request bodies: only the user may read them. */
const PRIVATE_FOLDER = 0o700
/** For files that users asked for by name: the umask decides who may read them. */
export const PROJECT_FOLDER = 0o777

const OWN_FOLDER = '.petstore-sandbox'

/**
 * The sandbox chooses the names in this folder. In a cloned folder, it or its files may be links to something else.
 */
export function isInOwnFolder(path: string): boolean {
  return basename(dirname(path)) === OWN_FOLDER
}

/** Accepts a missing folder. @throws UnusableFile if it is a link or another kind of file */
export function assertOwnFolder(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return
  throw new UnusableFile(`"${folder}" is ${stats.isFile() ? 'a file' : kindOf(stats)}, not a folder`)
}

/**
 * The sandbox's own folder gets a .gitignore. Not `recursive`: that never returns where the system reports ENOENT for a
 * forbidden folder, as in /proc.
 *
 * @returns the uppermost new folder
 * @throws UnusableFile if the sandbox's own folder is a link; system errors
 */
export function makeFolder(folder: string, mode = PRIVATE_FOLDER): string | undefined {
  const above = dirname(folder)
  for (const own of [above, folder]) if (basename(own) === OWN_FOLDER) assertOwnFolder(own)
  try {
    return makeOne(folder, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
  }
  const uppermost = makeFolder(above, mode)
  const made = makeOne(folder, mode)
  return uppermost ?? made
}

function makeOne(folder: string, mode: number): string | undefined {
  try {
    mkdirSync(folder, mode)
    if (basename(folder) === OWN_FOLDER) ignoreItself(folder)
    return folder
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined
    throw error
  }
}

/** @source gitignore(5): a pattern applies below the folder of its file, and to that file */
function ignoreItself(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 })
  } catch {
    // If the folder is not writable, its purpose fails with a better message.
  }
}
