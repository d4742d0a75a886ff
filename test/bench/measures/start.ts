import type { Contestant } from '../contestants/contestant.js'
import { say } from '../progress.js'

/** Milliseconds from the start of the process to its first 200, a figure each round, in turn, by contestant. */
export async function startTimes(
  contestants: readonly Contestant[],
  rounds: number,
): Promise<ReadonlyMap<Contestant, readonly number[]>> {
  const figures = new Map(contestants.map((contestant) => [contestant, [] as number[]]))
  // The first time, files are read from the disk.
  for (let round = -1; round < rounds; round++)
    for (const [contestant, taken] of figures) {
      say(`start, round ${Math.max(round + 1, 1)} of ${rounds}: ${contestant.name}`)
      const running = await contestant.start()
      await running.stop()
      if (round >= 0) taken.push(running.startMs)
    }
  return figures
}
