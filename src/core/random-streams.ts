import { type RandomStream, randomStream } from '../domain/random.js'
import type { Snapshot } from '../domain/snapshot.js'

/** A random stream for each purpose, so that changing one switch does not shift the draws of others. */
export interface RandomStreams {
  readonly storm: RandomStream
  readonly faults: RandomStream
  readonly latency: RandomStream
}

/** Opens the streams of a space, at their beginning. @param seed of the sandbox */
export function openStreams(seed: number, space: string): RandomStreams {
  const stream = (what: string) => randomStream(`${seed}:${space}:${what}`)
  return { storm: stream('storm'), faults: stream('faults'), latency: stream('latency') }
}

/** Where each stream stands. */
export function statesOf({ storm, faults, latency }: RandomStreams): Snapshot['dice'] {
  return { storm: storm.state, faults: faults.state, latency: latency.state }
}

/** Streams that go on from where others stood. */
export function streamsAt(states: Snapshot['dice']): RandomStreams {
  const stream = (name: keyof RandomStreams) => Object.assign(randomStream(''), { state: states[name] })
  return { storm: stream('storm'), faults: stream('faults'), latency: stream('latency') }
}
