import FakeTimers from '@sinonjs/fake-timers'
import { openSandboxCore } from '../src/compose.js'
import { parseJson } from '../src/contract/json.js'
import { CONTROL_PATH } from '../src/control/path.js'
import type { VerbInput, VerbName } from '../src/control/verb-map.js'
import { verbRequest } from '../src/control/verb-request.js'
import { VERBS } from '../src/control/verbs.js'
import { createFetch } from '../src/http/fetch-adapter.js'
import { EMBEDDED_DEFAULTS } from '../src/options/options.js'
import { resolveOptions } from '../src/options/resolve.js'
import { packageVersion } from '../src/system/package-files.js'

export interface ControlExample {
  /** By the names of the parameters. */
  readonly path: Readonly<Record<string, unknown>>
  /** Undefined without a body. */
  readonly body: unknown
  readonly response: unknown
}

/** An input for each verb that requires one, and for others whose example needs it. */
const INPUTS: {
  readonly [Name in VerbName as Record<never, never> extends VerbInput<Name> ? never : Name]: VerbInput<Name>
} & { readonly [Name in VerbName]?: VerbInput<Name> } = {
  'settings.change': { plan: 'pro', latency: '50ms..200ms' },
  'clock.set': { now: '2026-03-02T00:00:00Z', frozen: true },
  'clock.advance': { by: '1m' },
  'keys.add': { key: 'team-b', plan: 'pro' },
  'keys.change': { key: 'team-a', plan: 'pro' },
  'keys.remove': { key: 'team-a' },
  'keys.ban': { key: 'team-a', for: '30s' },
  'keys.unban': { key: 'sandbox-pro' },
  'storm.start': { rate: 0.3, for: '30s' },
  'faults.set': { rules: ['createPet:503*2'] },
  'faults.add': { rule: { operation: 'createPet', fault: 'status', status: 503, retryAfter: '2s' } },
  'scenario.apply': { scenario: { name: 'storm' } },
  'pets.list': { limit: 2 },
  'pets.add': { name: 'Rex', categoryId: 1 },
  'pets.set': { id: 1, status: 'sold' },
  'pets.remove': { id: 1 },
  'records.list': { resource: 'pets', limit: 2 },
  'records.add': { resource: 'pets', record: { name: 'Rex', categoryId: 1 } },
  'records.set': { resource: 'pets', id: 1, change: { status: null } },
  'records.remove': { resource: 'pets', id: 1 },
  'snapshots.save': { name: 'empty-basket' },
  'snapshots.restore': { name: 'full-basket' },
  'snapshots.remove': { name: 'full-basket' },
  'requests.list': { limit: 1 },
  'requests.har': { limit: 1 },
  'requests.traffic': { bucketSeconds: 60, buckets: 2 },
  'requests.replay': { id: 1, method: 'GET' },
  'spaces.remove': { name: 'checkout' },
  'spaces.copy': { name: 'checkout' },
}

/** What runs before each example, so that it has something to show. */
const BEFORE = [
  ['keys.add', { key: 'team-a' }],
  ['pets.add', { name: 'Bello', categoryId: 2, status: 'pending' }],
  ['snapshots.save', { name: 'full-basket' }],
  ['keys.ban', { key: 'sandbox-pro' }],
  ['faults.add', { rule: 'listPets:503*2' }],
  ['storm.start', { rate: 0.1, for: '1m' }],
] as const

/** A single sandbox has none. */
const REPLICAS = [
  {
    name: 'sandbox-1',
    address: '10.0.0.5:4010',
    version: packageVersion,
    position: 4711,
    lagMs: 1,
    since: '2026-03-01T12:00:00.000Z',
    isThis: true,
  },
]

/** Each verb's example, by running it in a new sandbox with a frozen clock: builds of the same source are equal. */
export async function controlExamples(): Promise<Readonly<Record<VerbName, ControlExample>>> {
  const timers = FakeTimers.install({ now: Date.parse('2026-03-01T12:00:00Z'), toFake: ['Date', 'performance'] })
  try {
    const examples: Record<string, ControlExample> = {}
    for (const name of Object.keys(VERBS) as VerbName[]) examples[name] = await exampleOf(name)
    return examples
  } finally {
    timers.uninstall()
  }
}

async function exampleOf(name: VerbName): Promise<ControlExample> {
  const options = resolveOptions(
    { now: '2026-03-01T12:00:00Z', freeze: true },
    { defaults: EMBEDDED_DEFAULTS, cwd: '.', randomSeed: () => 1 },
  )
  const core = await openSandboxCore(options, {})
  await core.begin('')
  try {
    await createFetch(
      core,
      core.controlTarget.stopping,
    )(new Request('http://localhost/v1/pets?limit=1', { headers: { authorization: 'Bearer sandbox' } }))
    for (const [verb, input] of BEFORE) await call(verb, '', input)
    await call('pets.remove', 'checkout', { id: 2 })
    if (name === 'undo') await call('pets.remove', '', { id: 1 })
    const space = name === 'spaces.copy' ? 'refunds' : ''
    const input: object = INPUTS[name] ?? {}
    const { body } = verbRequest(VERBS[name], space, input)
    const { path } = VERBS[name]
    const inPath = Object.entries(input).filter(([field]) => path.includes(`{${field}}`))
    return {
      path: Object.fromEntries(inPath),
      body: body && parseJson(body),
      response: name === 'replicas' ? REPLICAS : await call(name, space, input),
    }
  } finally {
    await core.close()
  }

  async function call(verb: VerbName, space: string, input: object): Promise<unknown> {
    const { method, address, body } = verbRequest(VERBS[verb], space, input)
    const request = new Request(`http://localhost${CONTROL_PATH}${address}`, { method, body: body ?? null })
    const response = await core.control(request, 'owner')
    const text = await response.text()
    if (!response.ok) throw new Error(`The example of ${verb} fails: ${text}`)
    return parseJson(text)
  }
}
