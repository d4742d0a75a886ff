import * as v from 'valibot'
import { stringifyJson } from '../contract/json.js'
import { FAULT_PHASES, FAULTS, faultProblem } from '../domain/faults.js'
import { PLAN_NAMES } from '../domain/keys.js'
import type { Pet } from '../domain/pets.js'
import {
  type DelayRange,
  LONGEST_LATENCY_MS,
  MAX_SENDERS,
  SETTING_NAMES,
  SETTINGS,
  type SettingRow,
} from '../domain/settings.js'
import { RANDOM_STREAMS, SNAPSHOT_VERSION, type Snapshot, type SpaceState } from '../domain/state.js'
import { stormProblem } from '../domain/storm.js'
import { LAST_INSTANT, LONGEST_WAIT_MS } from '../domain/time.js'
import { Recovery } from './recovery.js'
import { check, fields, list, oneOf, type Reader, record, text, wholeNumber } from './shape.js'
import { StoreError } from './store-error.js'

const instant = wholeNumber(0, LAST_INSTANT)
const count = wholeNumber(0)
const number = v.pipe(v.number('a number'), v.finite('a number'))
const boolean = v.boolean('true or false')
const randomState = wholeNumber(-(2 ** 31), 2 ** 31 - 1)
const usage = v.optional(fields({ openedAt: instant, used: count }))

/** @param problemOf returns the problem with the value as a whole, if any */
function withoutProblem<T>(problemOf: (value: T) => string | undefined) {
  return v.rawCheck<T>(({ dataset, addIssue }) => {
    const problem = dataset.typed ? problemOf(dataset.value) : undefined
    if (problem !== undefined) addIssue({ message: problem })
  })
}

const delay = wholeNumber(0, LONGEST_LATENCY_MS)
const range = { min: delay, max: delay }
const ordered = () => withoutProblem<DelayRange>(({ min, max }) => (min > max ? 'min is greater than max' : undefined))

function settingSchema(row: SettingRow): v.GenericSchema {
  switch (row.kind) {
    case 'choice':
      return oneOf<readonly (string | number)[]>(row.choices)
    case 'switch':
      return boolean
    case 'count-or-never':
      return v.union([v.literal('never'), wholeNumber(1)], 'never, or a whole number of 1 or more')
    case 'wait':
      return wholeNumber(1, LONGEST_WAIT_MS)
    case 'limits':
      return fields({ perMinute: v.optional(count), perDay: v.optional(count) })
    case 'latency': {
      const operations = v.record(v.string(), v.pipe(fields(range), ordered()), 'an object')
      return v.pipe(fields({ ...range, operations: v.optional(operations) }), ordered())
    }
    case 'senders':
      return wholeNumber(1, MAX_SENDERS)
  }
}

/** A setting newer than the snapshot gets its default. */
const settings = fields(
  Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const row: SettingRow = SETTINGS[name]
      const schema = settingSchema(row)
      return [name, 'default' in row ? v.optional(schema, row.default) : v.optional(schema)]
    }),
  ),
)

const storm = v.pipe(
  fields({
    rate: number,
    for: v.optional(count),
    every: v.optional(count),
    retryAfter: v.optional(wholeNumber(0, LONGEST_WAIT_MS)),
    startedAt: instant,
  }),
  withoutProblem((value) => stormProblem(value as NonNullable<Snapshot['storm']>)),
)

const faultRule = v.pipe(
  fields({
    operation: text,
    fault: oneOf(['status', ...FAULTS]),
    status: v.optional(number),
    probability: v.optional(number),
    times: v.optional(number),
    retryAfter: v.optional(text),
    phase: v.optional(oneOf(FAULT_PHASES)),
  }),
  withoutProblem((value) => faultProblem(value as Snapshot['faults'][number]['rule'])),
)

/** Earlier releases also wrote early requests, which are dropped. */
const banRecord = v.pipe(
  fields({
    ban: v.optional(fields({ from: instant, until: wholeNumber(0, LAST_INSTANT + LONGEST_WAIT_MS) })),
    wait: v.optional(v.unknown()),
    early: v.optional(v.unknown()),
    allCount: v.optional(v.unknown()),
  }),
  v.transform(({ ban }) => (ban === undefined ? {} : { ban })),
)

const snapshot = fields({
  version: v.unknown(),
  state: record,
  settings,
  clock: fields({ now: instant, frozen: boolean }),
  storm: v.nullable(storm),
  faults: list(fields({ rule: faultRule, left: v.nullable(count) })),
  plans: v.optional(list(fields({ name: text, plan: oneOf(PLAN_NAMES) }))),
  accounts: list(
    fields({
      kind: oneOf(['key', 'stranger']),
      name: text,
      usage: fields({ minute: usage, day: usage }),
      bans: banRecord,
    }),
  ),
  dice: fields(Object.fromEntries(RANDOM_STREAMS.map((stream) => [stream, randomState]))),
})

/**
 * Checks a whole snapshot, so that restoring it and the next start cannot fail half-way.
 * @throws CorruptionError; StoreError STORE_VERSION
 */
export function asSnapshot(value: unknown, readPet?: Reader<Pet>): Snapshot {
  const { version } = check(record, value, 'the snapshot')
  if (version !== SNAPSHOT_VERSION) {
    throw new StoreError(
      'STORE_VERSION',
      `the snapshot has version ${stringifyJson(version ?? null)}, this release reads version ${SNAPSHOT_VERSION}. Use the release that wrote it.`,
    )
  }
  const checked = check(snapshot, value, '')
  return { ...checked, state: asState(checked.state, readPet) } as unknown as Snapshot
}

/** Applies the checks of the store. @throws CorruptionError */
export function asState(value: unknown, readPet: Reader<Pet> | undefined): SpaceState {
  const recovery = new Recovery(readPet)
  recovery.addState(value)
  return recovery.state()
}
