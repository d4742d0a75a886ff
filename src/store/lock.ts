import {
  closeSync,
  fstatSync,
  futimesSync,
  linkSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { processStart } from '../system/process-start.js'
import { assertRegularFile, openNewFile, readRegularFile } from '../system/regular-file.js'
import { clearInterval, setInterval, setTimeout, systemClock } from '../system/system-clock.js'
import { cannot, failedWith, StoreError } from './store-error.js'

export interface Lock {
  release(): void
  /** Whether the lock file is still the one that this process created. */
  isHeld(): boolean
}

/** A pid means something only in its namespace, and only until the process ends: `started` tells two apart. */
export interface ProcessIdentity {
  readonly pid: number
  readonly started: string | undefined
  readonly host: string
  /** Boot and pid namespace on Linux, the host elsewhere. */
  readonly namespace: string
}

/** How often a holder touches its lock file. */
const HEARTBEAT_MS: DurationMs = SECOND_MS

/** A holder that cannot be looked up, because it runs in another container or machine, counts as ended after this. */
const MAX_SILENCE_MS: DurationMs = 5 * SECOND_MS

const held = new Set<string>()

interface LockOptions {
  readonly maxSilence?: DurationMs
  readonly warn?: (message: string) => void
}

/**
 * Creates a lock file that names this process, and touches it every second. A stale lock is removed under a second lock:
 * if two processes detect it at the same time, the slower one would otherwise remove the new lock of the faster one.
 *
 * Takes up to 5 s if the lock names a process of another container or machine that was killed just now.
 * @param options `maxSilence`: after which the holder counts as ended; `warn`: called once if the lock file can no longer be touched
 * @throws StoreError STORE_LOCKED naming the process that holds the lock; system errors if it cannot be written
 */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const { maxSilence = MAX_SILENCE_MS, warn } = options
  for (;;) {
    const fd = create(path)
    if (fd !== undefined) return hold(path, fd, warn)
    const stale = await findStale(path, maxSilence)
    if (stale === undefined) continue
    const takeover = await acquireLock(`${path}.takeover`, options)
    try {
      if (stampOf(path) === stale) unlinkSync(path)
    } finally {
      takeover.release()
    }
  }
}

function hold(path: string, fd: number, warn: LockOptions['warn']): Lock {
  held.add(path)
  const { dev, ino } = fstatSync(fd)
  const isHeld = () => {
    try {
      const present = held.has(path) ? lstatSync(path, { throwIfNoEntry: false }) : undefined
      return present?.ino === ino && present.dev === dev
    } catch {
      // Such as EIO.
      return false
    }
  }
  let hasFailed = false
  const heartbeat = setInterval(() => {
    const now = systemClock.wall() / SECOND_MS
    try {
      futimesSync(fd, now, now)
    } catch (error) {
      // An error in a timer would end the process. Each change checks the lock.
      if (!hasFailed)
        warn?.(
          `The lock file "${path}" cannot be touched (${messageOf(error)}). A process in another container may take over the store, and changes would fail here. Check the file's owner and the disk, then restart the sandbox.`,
        )
      hasFailed = true
    }
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    isHeld,
    release() {
      if (!held.has(path)) return
      const isOurs = isHeld()
      held.delete(path)
      clearInterval(heartbeat)
      try {
        if (isOurs) unlinkSync(path)
      } catch {
        // It is already removed, or becomes stale when this process ends.
      } finally {
        closeSync(fd)
      }
    },
  }
}

/**
 * @returns the stamp of a lock whose holder has ended; undefined if the lock is gone or has another holder now
 * @throws StoreError STORE_LOCKED if the holder is running
 */
async function findStale(path: string, maxSilence: DurationMs): Promise<string | undefined> {
  const found = await readHolder(path)
  if (found === undefined) return undefined
  const { holder, stamp } = found
  if (holder === undefined) return stamp
  if (holder.namespace === ownIdentity().namespace) {
    const isOwnPid = holder.pid === process.pid
    if (!(isOwnPid ? isThisProcess(path, holder) : isProcessAlive(holder))) return stamp
    throw locked(path, isOwnPid ? 'this process' : `process ${holder.pid}`)
  }
  // The clocks of two machines may differ, so only a lock of this machine is judged by its time.
  const isOfThisHost = holder.host === ownIdentity().host
  const touchedAt = () => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (isOfThisHost && systemClock.wall() - touchedAt() > maxSilence) return stamp
  for (let silence = 0; silence < maxSilence; silence += HEARTBEAT_MS) {
    await pause(Math.min(HEARTBEAT_MS, maxSilence))
    const present = stampOf(path)
    if (present === stamp) continue
    if (present?.split(':')[0] !== stamp.split(':')[0]) return undefined
    throw locked(path, `process ${holder.pid} of another container or machine, "${holder.host}"`)
  }
  return stamp
}

function locked(path: string, holder: string): StoreError {
  return new StoreError(
    'STORE_LOCKED',
    `The store is in use by ${holder} (lock file "${path}"). Stop it, choose another file with --store, or use --in-memory.`,
  )
}

/** @returns the open lock file, or undefined if there is one already */
function create(path: string): number | undefined {
  const candidate = `${path}.${process.pid}-${process.hrtime.bigint()}`
  let fd: number | undefined
  try {
    fd = write(candidate)
    try {
      linkSync(candidate, path)
      return fd
    } catch (error) {
      closeSync(fd)
      fd = undefined
      if (failedWith(error, 'EEXIST')) return undefined
      // The file system does not support hard links.
      return write(path)
    }
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return undefined
    throw error
  } finally {
    rmSync(candidate, { force: true })
  }
}

function write(file: string): number {
  const fd = openNewFile(file)
  try {
    writeSync(fd, JSON.stringify(ownIdentity()))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Changes with each heartbeat and each holder. */
function stampOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.ino}:${stats.mtimeNs}`
}

/** An unreadable lock may still be being written. */
const UNREADABLE_ATTEMPTS = 20
const UNREADABLE_PAUSE_MS = 5

interface FoundLock {
  readonly stamp: string
  /** undefined if the lock names no process */
  readonly holder: ProcessIdentity | undefined
}

/** @returns undefined if the lock is gone */
async function readHolder(path: string): Promise<FoundLock | undefined> {
  for (let attempt = 1; ; attempt++) {
    const stamp = stampOf(path)
    if (stamp === undefined) return undefined
    try {
      // A dangling link exists for `link`, but not for reading.
      assertRegularFile(lstatSync(path))
      const holder = asHolder(JSON.parse(readRegularFile(path).toString()))
      if (holder !== undefined || attempt === UNREADABLE_ATTEMPTS) return { stamp, holder }
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined
      if (!(error instanceof SyntaxError)) throw cannot('STORE_UNWRITABLE', 'lock the store by', path, error)
      if (attempt === UNREADABLE_ATTEMPTS) return { stamp, holder: undefined }
    }
    await pause(UNREADABLE_PAUSE_MS)
  }
}

function asHolder(content: unknown): ProcessIdentity | undefined {
  const { pid, started, host, namespace }: Partial<Record<keyof ProcessIdentity, unknown>> = Object(content)
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined
  const own = ownIdentity()
  return {
    pid,
    started: typeof started === 'string' ? started : undefined,
    host: typeof host === 'string' ? host : own.host,
    namespace: typeof namespace === 'string' ? namespace : own.namespace,
  }
}

function pause(duration: DurationMs): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration))
}

export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, started: processStart('self')?.started, host: hostname(), namespace: ownNamespace() }
  return own
}
let own: ProcessIdentity | undefined

/**
 * Processes with the same namespace can look each other up in /proc. Start times depend on the time namespace. A process
 * that does not see itself in /proc, which may show another pid namespace, has a namespace of its own.
 * @source proc(5), /proc/sys/kernel/random/boot_id; proc(5), /proc/pid/ns/pid; proc(5), /proc/pid/ns/time
 */
function ownNamespace(): string {
  if (process.platform !== 'linux') return hostname()
  try {
    if (readlinkSync('/proc/self') === `${process.pid}`) {
      const boot = readRegularFile('/proc/sys/kernel/random/boot_id').toString('latin1').trim()
      const kinds = readdirSync('/proc/self/ns').filter((kind) => kind === 'pid' || kind === 'time')
      return [boot, ...kinds.map((kind) => readlinkSync(`/proc/self/ns/${kind}`))].join(' ')
    }
  } catch {
    // There is no /proc.
  }
  return `${hostname()} ${process.pid} ${process.hrtime.bigint()}`
}

/** A holder with the pid of this process. Without start times, it may have ended. */
function isThisProcess(path: string, { started }: ProcessIdentity): boolean {
  return started === undefined ? held.has(path) : started === ownIdentity().started
}

/** Excludes zombies, and other processes with the same pid. Without start times, only the pid counts. */
function isProcessAlive({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (failedWith(error, 'ESRCH')) return false
  }
  const present = processStart(pid)
  if (present === undefined) return true
  return !present.isZombie && (started === undefined || started === present.started)
}
