import { linkSync, lstatSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { assertRegularFile, PRIVATE_FILE, readRegularFile } from '../system/regular-file.js'
import { cannot, failedWith, StoreError } from './store-error.js'

export interface Lock {
  release(): void
  /** Whether the lock file still exists and belongs to this process. */
  isHeld(): boolean
}

/** Distinguishes a process from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  readonly started: string | undefined
}

const held = new Set<string>()

/**
 * Creates a lock file that names this process. A stale lock is removed under a second lock: if two processes detect it
 * at the same time, the slower one would otherwise remove the new lock of the faster one.
 * @throws StoreError STORE_LOCKED naming the process that holds the lock; system errors if it cannot be written
 */
export function acquireLock(path: string): Lock {
  while (!create(path)) {
    if (!isStale(path)) continue
    const takeover = acquireLock(`${path}.takeover`)
    try {
      if (isStale(path)) unlinkSync(path)
    } finally {
      takeover.release()
    }
  }
  held.add(path)
  const isHeld = () => held.has(path) && textOf(path) === ownText()
  return {
    isHeld,
    release() {
      const isOurs = isHeld()
      held.delete(path)
      try {
        if (isOurs) unlinkSync(path)
      } catch {
        // It is already removed, or becomes stale when this process ends.
      }
    },
  }
}

/**
 * @returns whether the lock exists and its holder is not running
 * @throws StoreError STORE_LOCKED if the holder is running
 */
function isStale(path: string): boolean {
  const holder = readHolder(path)
  if (holder === 'gone') return false
  if (holder === 'unknown') return true
  const isOwnPid = holder.pid === process.pid
  if (!(isOwnPid && holder.started === undefined ? held.has(path) : isRunning(holder))) return true
  throw new StoreError(
    'STORE_LOCKED',
    `The store is in use by ${isOwnPid ? 'this process' : `process ${holder.pid}`} (lock file "${path}"). Stop it, choose another file with --store, or use --in-memory.`,
  )
}

function create(path: string): boolean {
  const text = ownText()
  const candidate = `${path}.${process.pid}-${process.hrtime.bigint()}`
  const write = (file: string) => writeFileSync(file, text, { flag: 'wx', mode: PRIVATE_FILE })
  try {
    write(candidate)
    try {
      linkSync(candidate, path)
    } catch (error) {
      if (failedWith(error, 'EEXIST')) return false
      // The file system does not support hard links.
      write(path)
    }
    return true
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return false
    throw error
  } finally {
    rmSync(candidate, { force: true })
  }
}

function ownText(): string {
  return JSON.stringify(ownIdentity())
}

function textOf(path: string): string | undefined {
  try {
    return readRegularFile(path).toString()
  } catch {
    return undefined
  }
}

/** An unreadable lock may still be being written. */
const UNREADABLE_ATTEMPTS = 20
const UNREADABLE_PAUSE_MS = 5

function readHolder(path: string): ProcessIdentity | 'gone' | 'unknown' {
  for (let attempt = 1; attempt <= UNREADABLE_ATTEMPTS; attempt++) {
    try {
      // A dangling link exists for `link`, but not for reading.
      assertRegularFile(lstatSync(path))
      const { pid, started }: Partial<Record<string, unknown>> = Object(JSON.parse(readRegularFile(path).toString()))
      if (typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0) {
        return { pid, started: typeof started === 'string' ? started : undefined }
      }
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return 'gone'
      if (!(error instanceof SyntaxError)) throw cannot('STORE_UNWRITABLE', 'lock the store by', path, error)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, UNREADABLE_PAUSE_MS)
  }
  return 'unknown'
}

export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, started: processStart(process.pid)?.started }
  return own
}
let own: ProcessIdentity | undefined

/** Excludes zombies, and other processes with the same pid. Without start times, only the pid counts. */
function isRunning({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (failedWith(error, 'ESRCH')) return false
  }
  const present = processStart(pid)
  if (present === undefined) return true
  return !present.isZombie && (started === undefined || started === present.started)
}

/** @source proc(5), /proc/pid/stat: state is field 3, starttime field 22, and the name in field 2 may contain blanks and brackets */
function processStart(pid: number): { readonly started: string; readonly isZombie: boolean } | undefined {
  try {
    const stat = readRegularFile(`/proc/${pid}/stat`).toString('latin1')
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = readRegularFile('/proc/sys/kernel/random/boot_id').toString('latin1').trim()
    return { started: `${boot}/${rest[18]}`, isZombie: /[ZXx]/.test(state) }
  } catch {
    return undefined
  }
}
