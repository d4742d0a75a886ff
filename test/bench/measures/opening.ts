import type { Contestant } from '../contestants/contestant.js'
import { say } from '../progress.js'
import { residentMegabytes } from './memory.js'

/** Opening a store that is there: seconds to the first answer, and megabytes then; a figure each round. */
export async function opening(
  contestant: Contestant,
  rounds: number,
): Promise<{ readonly seconds: readonly number[]; readonly megabytes: readonly number[] }> {
  const seconds: number[] = []
  const megabytes: number[] = []
  for (let round = 0; round < rounds; round++) {
    say(`opening, round ${round + 1} of ${rounds}: ${contestant.name}`)
    const running = await contestant.start()
    seconds.push(running.startMs / 1_000)
    megabytes.push(residentMegabytes(running.pid))
    await running.stop()
  }
  return { seconds, megabytes }
}
