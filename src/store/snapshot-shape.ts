import { stringifyJson } from '../contract/json.js'
import type { Interval, KeptBanRecord } from '../domain/ban.js'
import { LAST_INSTANT } from '../domain/clock.js'
import { type FaultRule, faultProblem, WIRE_FAULTS } from '../domain/faults.js'
import { PLAN_NAMES } from '../domain/keys.js'
import type { Pet } from '../domain/pets.js'
import type { Limits, QuotaUsage, Usage } from '../domain/quota.js'
import {
  type Latency,
  LONGEST_LATENCY_MS,
  MOST_SENDERS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRow,
  type Settings,
} from '../domain/settings.js'
import { SNAPSHOT_VERSION, type Snapshot, type SnapshotAccount } from '../domain/snapshot.js'
import type { SpaceState } from '../domain/state.js'
import { type RunningStorm, stormProblem } from '../domain/storm.js'
import { LONGEST_WAIT_MS } from '../domain/time.js'
import { Recovery } from './recovery.js'
import {
  asBoolean,
  asFields,
  asList,
  asNumber,
  asOneOf,
  asRecord,
  asText,
  asWhole,
  maybe,
  orNull,
  type Reader,
} from './shape.js'
import { CorruptionError, StoreError } from './store-error.js'

/**
 * Takes a value from a file for a snapshot only if all of it is one: what is
 * restored is neither refused half way nor by the next start.
 *
 * @throws CorruptionError; StoreError STORE_VERSION
 */
export function asSnapshot(value: unknown, readPet?: Reader<Pet>): Snapshot {
  const { version } = asRecord(value, 'the snapshot')
  if (version !== SNAPSHOT_VERSION) {
    throw new StoreError(
      'STORE_VERSION',
      `the snapshot has version ${stringifyJson(version ?? null)}, this release reads ${SNAPSHOT_VERSION}. Use the release that wrote it.`,
    )
  }
  return asFields<Snapshot>(value, '', {
    version: () => SNAPSHOT_VERSION,
    state: (state) => asState(state, readPet),
    settings: asSettings,
    clock: (clock, where) => asFields(clock, where, { now: asInstant, frozen: asBoolean }),
    storm: orNull(asStorm),
    faults: listOf((fault, where) => asFields(fault, where, { rule: asFaultRule, left: orNull(asCount) })),
    plans: maybe(listOf((plan, where) => asFields(plan, where, { name: asText, plan: oneOf(PLAN_NAMES) }))),
    accounts: listOf(asAccount),
    dice: (dice, where) => asFields(dice, where, { storm: asDie, faults: asDie, latency: asDie }),
  })
}

/** As a document is read, so that what is stored from here can be read again. @throws CorruptionError */
export function asState(value: unknown, readPet: Reader<Pet> | undefined): SpaceState {
  const recovery = new Recovery(readPet)
  recovery.addState(value)
  return recovery.state()
}

function asSettings(value: unknown, where: string): Settings {
  return asFields<Settings>(value, where, SETTING_READERS)
}

/** A setting that a snapshot lacks was not there yet when it was taken, and has its default. */
const SETTING_READERS = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const row: SettingRow = SETTINGS[name]
    const read = settingReader(row)
    return [name, 'default' in row ? orDefault(read, row.default) : maybe(read)]
  }),
  // Each row's kind goes with the type of its setting.
) as unknown as { readonly [Name in SettingName]-?: Reader<Settings[Name]> }

function orDefault(read: Reader<unknown>, missing: unknown): Reader<unknown> {
  return (value, where) => (value === undefined ? missing : read(value, where))
}

function settingReader(row: SettingRow): Reader<unknown> {
  switch (row.kind) {
    case 'choice':
      return oneOf<string | number>(row.choices)
    case 'switch':
      return asBoolean
    case 'count-or-never':
      return (count, where) => (count === 'never' ? count : asWhole(count, where, 1))
    case 'wait':
      return (duration, where) => asWhole(duration, where, 1, LONGEST_WAIT_MS)
    case 'limits':
      return (limits, where) =>
        asFields<Partial<Limits>>(limits, where, { perMinute: maybe(asCount), perDay: maybe(asCount) })
    case 'latency':
      return asLatency
    case 'senders':
      return (senders, where) => asWhole(senders, where, 1, MOST_SENDERS)
  }
}

function asLatency(value: unknown, where: string): Latency {
  const most: Reader<number> = (length, place) => asWhole(length, place, 0, LONGEST_LATENCY_MS)
  const latency = asFields<Latency>(value, where, { min: most, max: most })
  if (latency.min > latency.max) throw new CorruptionError(`${where}.min is more than its max`)
  return latency
}

function asStorm(value: unknown, where: string): RunningStorm {
  const storm = asFields<RunningStorm>(value, where, {
    rate: asNumber,
    for: maybe(asCount),
    every: maybe(asCount),
    retryAfter: maybe((wait, place) => asWhole(wait, place, 0, LONGEST_WAIT_MS)),
    startedAt: asInstant,
  })
  return withoutProblem(storm, stormProblem(storm), where)
}

function asFaultRule(value: unknown, where: string): FaultRule {
  const rule = asFields<FaultRule>(value, where, {
    operation: asText,
    fault: oneOf(['status', ...WIRE_FAULTS]),
    status: maybe(asNumber),
    probability: maybe(asNumber),
    times: maybe(asNumber),
    retryAfter: maybe(asText),
  })
  return withoutProblem(rule, faultProblem(rule), where)
}

function asAccount(value: unknown, where: string): SnapshotAccount {
  return asFields<SnapshotAccount>(value, where, {
    kind: oneOf(['key', 'stranger']),
    name: asText,
    usage: (usage, place) => asFields<QuotaUsage>(usage, place, { minute: maybe(asUsage), day: maybe(asUsage) }),
    bans: asBanRecord,
  })
}

function asUsage(value: unknown, where: string): Usage {
  return asFields<Usage>(value, where, { openedAt: asInstant, used: asCount })
}

/** Earlier releases wrote `allCount`, too, which is worked out again. */
function asBanRecord(value: unknown, where: string): KeptBanRecord {
  return asFields<KeptBanRecord>(value, where, {
    wait: maybe(asStretch),
    early: listOf(listOf(asStretch)),
    allCount: maybe(asStretch),
    ban: maybe(asStretch),
  })
}

function asStretch(value: unknown, where: string): Interval {
  return asFields<Interval>(value, where, {
    from: asInstant,
    until: (until, place) => asWhole(until, place, 0, LAST_INSTANT + LONGEST_WAIT_MS),
  })
}

function asInstant(value: unknown, where: string): number {
  return asWhole(value, where, 0, LAST_INSTANT)
}

function asCount(value: unknown, where: string): number {
  return asWhole(value, where, 0)
}

/** 32 bits. */
function asDie(value: unknown, where: string): number {
  return asWhole(value, where, -(2 ** 31), 2 ** 31 - 1)
}

function oneOf<const T>(allowed: readonly T[]): Reader<T> {
  return (value, where) => asOneOf(value, allowed, where)
}

function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, where) => asList(value, where).map((item, index) => read(item, `${where}[${index}]`))
}

function withoutProblem<T>(value: T, problem: string | undefined, where: string): T {
  if (problem !== undefined) throw new CorruptionError(`${where}: ${problem}`)
  return value
}
