import { NO_LOGINS } from '../domain/logins.js'
import { randomStream } from '../domain/random.js'
import type { StoredState } from '../domain/state.js'
import { clockAt, type EpochMs, REAL_TIME, readClock, startInstant } from '../domain/time.js'
import { Accounts } from './accounts.js'
import { openCollections, openSeed, unservedRecords } from './collections.js'
import type { SpaceContext } from './space-context.js'
import type { SpaceState } from './space-state.js'
import { banKeys, changeFaults, startStorm, useUp } from './transitions.js'

interface StartingSpace {
  readonly name: string
  readonly shared: SpaceContext
  /** The state that a reset returns to. */
  readonly seed: StoredState
  /** So far. */
  readonly requests: number
}

/** The state of a space at its start, or after a reset, with the records of a stored state. */
export function startState(space: StartingSpace, stored: StoredState, wall: EpochMs): SpaceState {
  const { name, shared, requests } = space
  const { start, seed, contract, keys } = shared
  const stream = (purpose: string) => randomStream(`${seed}:${name}:${purpose}`).state
  const clock =
    start.now === undefined ? REAL_TIME : clockAt(startInstant(start.now, wall, contract), start.freeze, wall)
  const now = readClock(clock, wall)
  const state: SpaceState = {
    ...openRecords(space, stored),
    plans: new Map(),
    settings: start.settings,
    clock,
    startClock: clock,
    storm: start.storm && startStorm(start.storm, now, requests),
    faults: changeFaults({ faults: [] }, start.faults, 0).faults,
    accounts: new Accounts(),
    randomStreams: { storm: stream('storm'), faults: stream('faults'), latency: stream('latency') },
    origins: new Map(),
    logins: NO_LOGINS,
    idempotent: [],
    heldBytes: 0,
  }
  return { ...state, accounts: banKeys(useUp(state, shared, start.used, now), keys, start.bans, now, requests) }
}

/** Named spaces that have only what they started with share their records. */
export function openRecords(
  { name, shared: { contract }, seed }: StartingSpace,
  stored: StoredState,
): Pick<SpaceState, 'records' | 'ownRecords' | 'unserved'> {
  const isSeed = name !== '' && stored === seed
  const records = isSeed ? openSeed(contract, stored) : openCollections(contract, stored)
  return { records, ownRecords: isSeed ? [] : [...records.keys()], unserved: unservedRecords(contract, stored) }
}
