import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'

/** What stands where a file should be cannot be used. The message is a sentence part: `it is a FIFO, not a file`. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile'
}

/** What the sandbox writes is its user's alone: keys, and what clients sent, may be in it. */
export const PRIVATE_FILE = 0o600

/** Windows has none, and no FIFO among its files. */
const DO_NOT_WAIT = constants.O_NONBLOCK ?? 0

/**
 * Opens a regular file: the one door for every file that a user may name.
 *
 * Anything else is refused at once. Opening a FIFO would wait for somebody at
 * its other end, a device may never end, and looking first is not enough, as
 * somebody may put one there meanwhile.
 *
 * @param flags of open(2)
 * @returns its descriptor
 * @throws UnusableFile; whatever the system says
 */
export function openRegularFile(file: string, flags: number): number {
  // Opening a device may already do something.
  const there = statSync(file, { throwIfNoEntry: false })
  if (there !== undefined) refuseOthers(there)
  const fd = openSync(file, flags | DO_NOT_WAIT, PRIVATE_FILE)
  try {
    refuseOthers(fstatSync(fd))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/**
 * Reads a regular file.
 *
 * @param most bytes; a larger file is refused before it is read
 * @throws UnusableFile; whatever the system says
 */
export function readRegularFile(file: string, most = Number.POSITIVE_INFINITY): Buffer {
  const fd = openRegularFile(file, constants.O_RDONLY)
  try {
    if (fstatSync(fd).size > most) throw tooLarge(most)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Bytes that are read at a time. */
const PIECE = 256 * 1024

/** What a shell hands over: it is open already, so that nobody waits for its other end. `<(command)` is one of these. */
const HANDED_OVER = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/

/**
 * Reads a file that a command line names for what is in it (a key, a token, a
 * body): a regular file, or a pipe that the shell has handed over.
 *
 * @param most bytes
 * @throws UnusableFile; whatever the system says
 */
export function readInput(file: string, most: number): Buffer {
  if (!HANDED_OVER.test(file)) return readRegularFile(file, most)
  const content = readFileSync(file)
  if (content.length > most) throw tooLarge(most)
  return content
}

/** What is read piece by piece. */
export interface InputStream {
  /** In bytes; undefined for a pipe, which does not say. */
  readonly size: number | undefined
  readonly chunks: AsyncIterable<Buffer>
}

/** The same for a file of any size, piece by piece. @throws UnusableFile; whatever the system says */
export function streamInput(file: string): InputStream {
  const fd = HANDED_OVER.test(file) ? openSync(file, constants.O_RDONLY) : openRegularFile(file, constants.O_RDONLY)
  const stats = fstatSync(fd)
  return { size: stats.isFile() ? stats.size : undefined, chunks: createReadStream('', { fd, highWaterMark: PIECE }) }
}

function tooLarge(most: number): UnusableFile {
  return new UnusableFile(`it is larger than ${most / 1_000_000} MB`)
}

/** Writes a regular file, in place of the one that is there. @throws UnusableFile; whatever the system says */
export function writeRegularFile(file: string, content: string | Uint8Array): void {
  const fd = openRegularFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
  try {
    writeFileSync(fd, content)
  } finally {
    closeSync(fd)
  }
}

/** Takes a file or a folder from everybody but its user, where an older release has left it to others. What cannot be changed stays. */
export function makePrivate(path: string): void {
  try {
    const { mode } = statSync(path)
    if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700)
  } catch {
    // It is not there, or somebody else's.
  }
}

/** Throws for what is there and is no regular file. @throws UnusableFile */
export function refuseOthers(stats: Stats): void {
  if (!stats.isFile()) throw new UnusableFile(`it is ${kindOf(stats)}, not a file`)
}

/** Why a file could not be opened, for the brackets of a message: what it is instead, or the system's code. */
export function openingProblem(error: unknown): string {
  if (error instanceof UnusableFile) return error.message
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a FIFO'
  if (stats.isSocket()) return 'a socket'
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
}
