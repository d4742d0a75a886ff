import { readFileSync } from 'node:fs'

/** Ticks of /proc/<pid>/stat. @source proc(5) */
const TICK_US = 10_000

/** Processor time that a process has taken so far, in microseconds. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}
