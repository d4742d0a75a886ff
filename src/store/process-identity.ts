import { readRegularFile } from '../system/regular-file.js'

/** A process, distinguished from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** Boot id and start time; undefined if the system does not tell. */
  readonly started: string | undefined
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, started: startOf(process.pid)?.started }
  return own
}
let own: ProcessIdentity | undefined

/**
 * Whether a process still runs.
 *
 * A pid that now belongs to another process, or to one that has
 * ended but has not been reaped by its parent, does not count. Where the
 * system does not say when a process started, its number alone decides.
 */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: alive, and another user's.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
  }
  const present = startOf(pid)
  if (present === undefined) return true
  return !present.ended && (started === undefined || started === present.started)
}

interface ProcessStart {
  readonly started: string
  /** A zombie: it has ended but has not been reaped yet. */
  readonly ended: boolean
}

/** @source proc(5), /proc/pid/stat: state is field 3, starttime field 22, and the name in field 2 may hold blanks and brackets */
function startOf(pid: number): ProcessStart | undefined {
  try {
    const stat = readRegularFile(`/proc/${pid}/stat`).toString('latin1')
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = readRegularFile('/proc/sys/kernel/random/boot_id').toString('latin1').trim()
    return { started: `${boot}/${rest[18]}`, ended: /[ZXx]/.test(state) }
  } catch {
    return undefined
  }
}
