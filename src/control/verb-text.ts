import { stringifyJson } from '../contract/json.js'
import { formatFaultRule } from '../domain/faults.js'
import type { VerbDone } from './verb.js'
import type { VerbName } from './verb-map.js'

const LONGEST_VALUE = 80

/** Fields of what a verb takes or gives. */
type Fields = Readonly<Record<string, unknown>>

/**
 * Verbs that have more to say than their name and what they were given. Of a key it is
 * said what the verb answers, its label: what was given may be somebody's real one.
 */
const TEXTS: { readonly [Name in VerbName]?: (input: Fields, output: Fields) => string } = {
  reset: (_, { pets }) => `reset: ${text(pets)} pets`,
  'clock.set': (_, output) => `clock set ${clock(output)}`,
  'clock.advance': ({ by }, output) => `clock advance ${text(by)} ${clock(output)}`,
  'clock.reset': () => 'clock reset: real time',
  'keys.add': (_, { key, plan }) => `keys add ${text(key)} (plan ${text(plan)})`,
  'keys.change': (_, { key, plan }) => `plan ${text(key)} ${text(plan)}`,
  'keys.remove': (_, { removed }) => `keys remove ${text(removed)}`,
  'keys.ban': (_, { key, ban }) => `ban ${text(key)} until ${text(Object(ban).until)}`,
  'keys.unban': (_, { key }) => `unban ${text(key)}`,
  'storm.start': (_, { rate, for: length, every }) =>
    `storm start: rate ${text(rate)}${suffix('for', length)}${suffix('every', every)}`,
  'faults.add': ({ rule }) => `fault add ${fault(rule)}`,
  'faults.set': ({ rules }) => ['fault set', ...(Array.isArray(rules) ? rules.map(fault) : [])].join(' '),
  'faults.clear': () => 'fault clear',
  'pets.add': (_, { id, name }) => `pets add ${text(id)}: ${text(name)}`,
  'pets.remove': (_, { removed }) => `pets remove ${text(removed)}`,
  'scenario.apply': ({ scenario }) => `scenario ${text(Object(scenario).name ?? 'of its own')}`,
  shutdown: () => 'stop',
}

/** What was done, in about the words of `petstore-sandbox control`. */
export function verbText({ name, input, output }: VerbDone): string {
  const written = TEXTS[name]?.(Object(input), Object(output))
  if (written !== undefined) return written
  const open = Object.entries(Object(input)).filter(([field]) => field !== 'key')
  const given = open.map(([field, value]) => `${field}=${text(value)}`)
  return [name.replace('.', ' '), ...given].join(' ')
}

function clock({ now, frozen }: Fields): string {
  return `→ ${text(now)}${frozen === true ? ', frozen' : ''}`
}

/** The verb has checked what it was given: a rule's own text, or its fields. */
function fault(rule: unknown): string {
  return text(typeof rule === 'string' ? rule : formatFaultRule(Object(rule)))
}

function suffix(word: string, value: unknown): string {
  return value === null || value === undefined ? '' : ` ${word} ${text(value)}`
}

function text(value: unknown): string {
  const whole = typeof value === 'string' ? value : (stringifyJson(value) ?? '')
  return whole.length > LONGEST_VALUE ? `${whole.slice(0, LONGEST_VALUE - 1)}…` : whole
}
