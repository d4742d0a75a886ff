import { NO_BAN_RECORD } from '../domain/ban.js'
import { armFaults } from '../domain/faults.js'
import { keyLabel } from '../domain/keys.js'
import { NO_LOGINS } from '../domain/logins.js'
import { SNAPSHOT_VERSION, type Snapshot } from '../domain/state.js'
import { clockAt, type EpochMs } from '../domain/time.js'
import { Accounts } from './accounts.js'
import { shareCollections } from './collections.js'
import type { Space } from './space.js'
import { openRecords } from './start-state.js'
import { startStorm, turnClock } from './transitions.js'

/** The state of a space, with labels instead of secret keys. */
export function takeSnapshot(space: Space, wall: EpochMs): Snapshot {
  const { settings, clock, storm, faults, plans, accounts, logins, idempotent, randomStreams } = space.state
  const { keys } = space
  const labelOf = (key: string) => {
    const apiKey = keys.get(key)
    return apiKey === undefined ? [] : [keyLabel(apiKey)]
  }
  return {
    version: SNAPSHOT_VERSION,
    state: space.stored(),
    settings,
    clock: { now: space.now(wall), frozen: clock.kind === 'frozen' },
    storm: storm ?? null,
    faults: faults.map(({ rule, left }) => ({ rule, left })),
    plans: [...plans].flatMap(([key, plan]) => labelOf(key).map((name) => ({ name, plan }))),
    accounts: accounts
      .save()
      .flatMap((account) =>
        account.kind === 'stranger' ? [account] : labelOf(account.name).map((name) => ({ ...account, name })),
      ),
    ...(logins.issued > 0 && { logins }),
    ...(idempotent.length > 0 && { idempotent }),
    dice: randomStreams,
  }
}

/**
 * Keys belong to the sandbox: one added since stays, one removed does not return. Their plans and bans are restored.
 * @param source has the records of the snapshot
 * @throws StoreFull, Failure STORE_WRITE_FAILED
 * @source docs/state.md, "Snapshots"
 */
export function restoreSnapshot(space: Space, snapshot: Snapshot, wall: EpochMs, source?: Space): void {
  const { requests, shared } = space
  const { settings, clock, storm, faults, dice, logins = NO_LOGINS, idempotent = [] } = snapshot
  const keyOf = (name: string) => shared.keys.find(name)?.key
  const plans = new Map(
    snapshot.plans.flatMap(({ name, plan }) => {
      const key = keyOf(name)
      return key === undefined ? [] : [[key, plan] as const]
    }),
  )
  const saved = snapshot.accounts.flatMap((account) => {
    const name = account.kind === 'key' ? keyOf(account.name) : account.name
    const { ban } = account.bans
    const bans = ban === undefined ? NO_BAN_RECORD : { ban: { ...ban, afterRequests: requests } }
    return name === undefined ? [] : [{ ...account, name, bans }]
  })
  const isInMemory = source !== undefined && source.store === undefined && space.store === undefined
  const accounts = new Accounts(saved)
  const next = {
    ...(source === undefined
      ? openRecords(space, snapshot.state)
      : { records: shareCollections(source.state.records), ownRecords: [], unserved: source.state.unserved }),
    ...(isInMemory && { heldBytes: source.state.heldBytes }),
    plans,
    settings,
    ...turnClock({ ...space.state, accounts, idempotent }, clockAt(clock.now, clock.frozen, wall), wall),
    storm: storm === null ? undefined : startStorm(storm, storm.startedAt, requests),
    faults: armFaults(faults, space.state.faults, requests),
    logins,
    randomStreams: dice,
  }
  const stored = { kind: 'replaced', state: { ...snapshot.state, keys: space.storedKeys(plans) } } as const
  space.commit({ accounts, idempotent, ...next }, isInMemory ? [] : [stored])
}

/** Takes over everything that decides the next responses of another space. @throws StoreFull */
export function copySpace(space: Space, source: Space, wall: EpochMs): void {
  restoreSnapshot(space, takeSnapshot(source, wall), wall, source)
}
