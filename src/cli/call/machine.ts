import { setTimeout } from 'node:timers/promises'
import type { ClientMachine } from '../../client/send.js'
import { systemClock } from '../../system/system-clock.js'
import type { CliIo } from '../io.js'

const SEED_BOUND = 2 ** 32

export function clientMachine(io: CliIo): ClientMachine {
  return {
    sleep: (duration, signal) => setTimeout(duration, undefined, { signal }),
    now: systemClock.wall,
    random: () => io.randomSeed() / SEED_BOUND,
  }
}
