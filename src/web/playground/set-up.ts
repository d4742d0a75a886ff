import type { ScenarioContent } from '../../options/options.js'
import { messageOf } from '../format.js'
import { readPolicy } from './policy.js'

export interface SetUp {
  readonly conditions: readonly Condition[]
  readonly wait: string
}

const CALM: ScenarioContent = { storm: 'off', fault: [], latency: '0ms' }

export const CONDITIONS = {
  storm: {
    label: 'Storm 70 %',
    title: 'Refuses 70 % of all requests, with Retry-After: 20, for 20 seconds of every 40',
    scenario: { storm: { rate: 0.7, for: '20s', every: '40s', retryAfter: '20s' } },
  },
  slow: { label: 'Slow +800 ms', title: 'Delays every response', scenario: { latency: '800ms' } },
  broken: {
    label: 'Broken connections 33 %',
    title: 'Closes one of three connections without a response',
    scenario: { fault: ['*:connection-reset@33%'] },
  },
} as const satisfies Record<string, { label: string; title: string; scenario: ScenarioContent }>
export type Condition = keyof typeof CONDITIONS
export const CONDITION_NAMES = Object.keys(CONDITIONS) as readonly Condition[]

const DEFAULT: SetUp = { conditions: [], wait: 'retryAfter / 2' }

export function scenarioOf(conditions: readonly Condition[]): ScenarioContent {
  return Object.assign({}, CALM, ...conditions.map((name) => CONDITIONS[name].scenario))
}

/** @param hash `#conditions=storm,slow&wait=retryAfter`, with or without its "#" */
export function readSetUp(hash: string): { readonly setUp: SetUp; readonly problems: readonly string[] } {
  const problems: string[] = []
  let { conditions, wait } = DEFAULT
  for (const [field, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (field === 'conditions') {
      const names = value.split(',')
      for (const name of names)
        if (!CONDITION_NAMES.some((known) => known === name))
          problems.push(`Unknown condition "${name}". Use ${CONDITION_NAMES.join(', ')}.`)
      conditions = CONDITION_NAMES.filter((known) => names.includes(known))
    } else if (field === 'wait') {
      try {
        readPolicy(value)
        wait = value
      } catch (error) {
        problems.push(`The policy "${value}" was left out. ${messageOf(error)}`)
      }
    } else problems.push(`Unknown field "${field}". A link has conditions and wait.`)
  }
  return { setUp: { conditions, wait }, problems }
}

/** Starts with "#", unless it is the default. */
export function writeSetUp({ conditions, wait }: SetUp): string {
  const fields = new URLSearchParams()
  if (conditions.length > 0) fields.set('conditions', conditions.join(','))
  if (wait !== DEFAULT.wait) fields.set('wait', wait)
  const text = fields.toString()
  return text === '' ? '' : `#${text}`
}
