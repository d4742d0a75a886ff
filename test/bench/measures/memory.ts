import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Contestant } from '../contestants/contestant.js'
import { exactly } from '../load/autocannon.js'
import type { Load } from '../load/load.js'
import { say } from '../progress.js'

/** Megabytes in the machine's memory after so many calls of listPets. */
export async function memoryAfter(requests: number, contestant: Contestant): Promise<number> {
  say(`memory after ${requests} requests: ${contestant.name}`)
  const running = await contestant.start()
  try {
    await exactly(requests, running, 'listPets')
    return residentMegabytes(running.pid)
  } finally {
    await running.stop()
  }
}

/** The same process looked at twice: after few, and after at least `many` calls of listPets. */
export async function memoryGrowth(
  [few, many]: readonly [number, number],
  contestant: Contestant,
  load: Load,
): Promise<{ readonly afterFew: number; readonly afterMany: number }> {
  say(`memory after ${few} and after ${many} requests: ${contestant.name}`)
  const running = await contestant.start()
  try {
    let done = (await exactly(few, running, 'listPets')).requests
    const afterFew = residentMegabytes(running.pid)
    while (done < many) done += (await load(running, 'listPets', 2)).requests
    return { afterFew, afterMany: residentMegabytes(running.pid) }
  } finally {
    await running.stop()
  }
}

/** What a process holds in the machine's memory now, in megabytes of 1,000,000 bytes. */
export function residentMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  return (Number(kibibytes) * 1024) / 1e6
}
