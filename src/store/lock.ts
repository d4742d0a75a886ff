import { linkSync, lstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { PRIVATE_FILE, readRegularFile, refuseOthers } from '../system/regular-file.js'
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.js'
import { cannot, failedWith, StoreError } from './store-error.js'

/** Exclusive use of a file, until released or the process ends. */
export interface Lock {
  release(): void
  /** Whether it is still there, and nobody else's. */
  isHeld(): boolean
}

/** Locks held by this process, for systems that do not tell when a process started. */
const held = new Set<string>()

/**
 * Takes a lock: a file that names its holder.
 *
 * A holder that no longer runs does not count. Its lock is removed under a
 * second lock, after checking again: otherwise, of two processes that both saw
 * the dead holder, the slower one would remove the lock of the faster one.
 *
 * @throws StoreError STORE_LOCKED naming the process that holds it; system errors if it cannot be written
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
        // It is gone already, or will be stale once this process has ended.
      }
    },
  }
}

/**
 * @returns whether the lock exists and its holder does not; false if the lock is gone by now
 * @throws StoreError STORE_LOCKED when the holder runs
 */
function isStale(path: string): boolean {
  const holder = readHolder(path)
  if (holder === 'gone') return false
  if (holder === 'unknown' || !holds(path, holder)) return true
  const whose = holder.pid === process.pid ? 'this process' : `process ${holder.pid}`
  throw new StoreError(
    'STORE_LOCKED',
    `the store is in use by ${whose}, as "${path}" says. Stop it, choose another file with --store, or use --in-memory.`,
  )
}

function holds(path: string, holder: ProcessIdentity): boolean {
  const mayBeEarlier = holder.pid === process.pid && holder.started === undefined
  return mayBeEarlier ? held.has(path) : isRunning(holder)
}

/** Creates the file with its content in one step, so that no reader sees half of it. */
function create(path: string): boolean {
  const text = ownText()
  const candidate = `${path}.${process.pid}-${process.hrtime.bigint()}`
  writeFileSync(candidate, text, { flag: 'wx', mode: PRIVATE_FILE })
  try {
    linkSync(candidate, path)
    return true
  } catch (error) {
    return failedWith(error, 'EEXIST') ? false : createPlainly(path, text)
  } finally {
    unlinkSync(candidate)
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

/** For file systems without hard links. */
function createPlainly(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: PRIVATE_FILE })
    return true
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return false
    throw error
  }
}

/** How long an unreadable lock is taken for one that is just being written. */
const UNREADABLE_TRIES = 20
const UNREADABLE_PAUSE_MS = 5

function readHolder(path: string): ProcessIdentity | 'gone' | 'unknown' {
  for (let tries = 1; tries <= UNREADABLE_TRIES; tries++) {
    try {
      // A link would be followed: one to nothing is there for whoever creates it, and gone for whoever reads it.
      refuseOthers(lstatSync(path))
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
