import { setTimeout } from 'node:timers/promises'
import type { ClientMachine } from '../../client/send.js'
import { systemClock } from '../../system/system-clock.js'
import type { CliIo } from '../io.js'

/** As many values as `randomSeed` has. */
const SEED_BOUND = 2 ** 32

/** Waiting, the clock and chance, as the client wants them. */
export function clientMachine(io: CliIo): ClientMachine {
  return {
    sleep: (duration, signal) => setTimeout(duration, undefined, { signal }),
    now: systemClock.wall,
    random: () => io.randomSeed() / SEED_BOUND,
  }
}
