import { stringifyJson } from '../contract/json.js'
import type { Spaces } from '../core/spaces.js'
import { formatFaultRule } from '../domain/faults.js'
import { counted } from '../domain/numbers.js'
import { type EpochMs, isoText, parseDuration } from '../domain/time.js'
import type { VerbDone } from './verb.js'

const MAX_VALUE_LENGTH = 80

type Fields = Readonly<Record<string, unknown>>

/**
 * Verbs whose text is not just name and input. Keys come from the output, which has their label: the input may be a
 * real key.
 */
const TEXTS: Readonly<Record<string, (input: Fields, output: Fields) => string>> = {
  reset: (_, { pets }) => `reset: ${counted(Number(pets), 'pet')}`,
  'overrides.clear': (_, { cleared }) => `overrides clear: ${text(cleared)} cleared`,
  undo: (_, { undone, requests }) => `undo ${text(undone).replace('.', ' ')}${undoneRequests(requests)}`,
  'clock.set': (_, output) => `clock set ${clock(output)}`,
  'clock.advance': ({ by }, output) => `clock advance ${text(by)} ${clock(output)}`,
  'clock.reset': () => 'clock reset: real time',
  'keys.add': (_, { key, plan }) => `keys add ${text(key)} (plan ${text(plan)})`,
  'keys.change': (_, { key, plan }) => `plan ${text(key)} ${text(plan)}`,
  'keys.remove': (_, { removed }) => `keys remove ${text(removed ?? 'unknown key')}`,
  'keys.ban': (_, { key, ban }) => `ban ${text(key)} until ${text(Object(ban).until)}`,
  'keys.unban': (_, { key }) => `unban ${text(key ?? 'unknown key')}`,
  'storm.start': (_, { rate, for: length, every }) =>
    `storm start: rate ${text(rate)}${suffix('for', length)}${suffix('every', every)}`,
  'faults.add': ({ rule }) => `fault add ${fault(rule)}`,
  'faults.set': ({ rules }) => ['fault set', ...(Array.isArray(rules) ? rules.map(fault) : [])].join(' '),
  'faults.clear': () => 'fault clear',
  'pets.add': (_, { id, name }) => `pets add ${text(id)}: ${text(name)}`,
  'records.add': ({ resource, record }) => `resources add ${text(resource)} ${text(record)}`,
  'records.set': ({ resource, id, change }) => `resources set ${text(resource)} ${text(id)} ${text(change)}`,
  'records.remove': ({ resource, id }) => `resources remove ${text(resource)} ${text(id)}`,
  'pets.remove': ({ id }) => `pets remove ${text(id)}`,
  'scenario.apply': ({ scenario }) => `scenario ${text(Object(scenario).name ?? 'custom')}`,
  shutdown: () => 'stop',
}

export function verbText(verb: Omit<VerbDone, 'at'>): string {
  return `${writtenText(verb)}${Object(verb.output).removed === null ? ': not found' : ''}`
}

function writtenText({ name, input, output }: Omit<VerbDone, 'at'>): string {
  const written = TEXTS[name]?.(Object(input), Object(output))
  if (written !== undefined) return written
  const open = Object.entries(Object(input)).filter(([field]) => field !== 'key')
  const given = open.map(([field, value]) => `${field}=${text(value)}`)
  return [name.replace('.', ' '), ...given].join(' ')
}

/** Reports a verb to the followers of its space. @returns the verb with its time */
export function reportVerb(spaces: Spaces, verb: Omit<VerbDone, 'at'>, wall: EpochMs): VerbDone {
  const space = spaces.get(verb.space)
  const at = space?.now(wall) ?? wall
  const done = { ...verb, at }
  const until = endOf(done)
  const event = { at: new Date(at).toISOString(), verb: verb.name, text: verbText(done) }
  space?.log.publish(until === undefined ? event : { ...event, until })
  return done
}

function endOf({ name, output, at }: VerbDone): string | undefined {
  const { ban, for: length, every } = Object(output)
  if (name === 'keys.ban') return Object(ban).until
  const lasts = name === 'storm.start' && every === null ? parseDuration(String(length)) : undefined
  return lasts === undefined ? undefined : isoText(at + lasts)
}

function undoneRequests(requests: unknown): string {
  return Number(requests) === 0 ? '' : `, and of ${counted(Number(requests), 'request')} since`
}

const clock = ({ now, frozen }: Fields) => `→ ${text(now)}${frozen === true ? ', frozen' : ''}`

const fault = (rule: unknown) => text(typeof rule === 'string' ? rule : formatFaultRule(Object(rule)))

const suffix = (word: string, value: unknown) =>
  value === null || value === undefined ? '' : ` ${word} ${text(value)}`

function text(value: unknown): string {
  const whole = typeof value === 'string' ? value : (stringifyJson(value) ?? '')
  return whole.length > MAX_VALUE_LENGTH ? `${whole.slice(0, MAX_VALUE_LENGTH - 1)}…` : whole
}
