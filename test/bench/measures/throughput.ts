import type { Contestant, Operation, Running } from '../contestants/contestant.js'
import type { Extent } from '../extent.js'
import type { Load } from '../load/load.js'
import { say } from '../progress.js'

/** Requests per second, a figure each round, by contestant. */
export type Throughput = ReadonlyMap<Contestant, readonly number[]>

/**
 * Loads contestants in turn, A B C C B A, so that whatever else the machine does falls on all of them.
 *
 * @param peers in the first rounds only: they are so far off that it need not be known so well
 */
export async function throughput(
  operation: Operation,
  contestants: readonly Contestant[],
  peers: readonly Contestant[],
  rounds: number,
  { longRounds, seconds, warmUpSeconds }: Extent,
  load: Load,
): Promise<Throughput> {
  const figures = new Map([...contestants, ...peers].map((contestant) => [contestant, [] as number[]]))
  const lasting = new Map<Contestant, Running>()
  const warm = async (contestant: Contestant) => {
    const running = await contestant.start()
    if (warmUpSeconds > 0) await load(running, operation, warmUpSeconds)
    return running
  }
  try {
    for (let round = 0; round < rounds; round++)
      for (const [contestant, taken] of round % 2 === 0 ? figures : [...figures].reverse()) {
        if (round >= longRounds && peers.includes(contestant)) continue
        say(`${operation}, round ${round + 1} of ${rounds}: ${contestant.name}`)
        const running = lasting.get(contestant) ?? (await warm(contestant))
        lasting.set(contestant, running)
        taken.push((await load(running, operation, seconds)).perSecond)
        if (operation === 'createPet' && contestant.grows) {
          lasting.delete(contestant)
          await running.stop()
        }
      }
  } finally {
    for (const running of lasting.values()) await running.stop()
  }
  return figures
}
