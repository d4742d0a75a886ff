import FakeTimers from '@sinonjs/fake-timers'
import { openSandboxCore } from '../src/compose.js'
import { parseJson } from '../src/contract/json.js'
import { CONTROL_PATH } from '../src/control/path.js'
import type { Verb } from '../src/control/verb.js'
import type { VerbName } from '../src/control/verb-map.js'
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

/** What runs before each example, so that it has something to show. */
const BEFORE = [
  ['keys.add', { key: 'team-a' }],
  ['records.add', { resource: 'pets', record: { name: 'Bello', categoryId: 2, status: 'pending' } }],
  ['snapshots.save', { name: 'full-basket' }],
  ['keys.ban', { key: 'sandbox-pro' }],
  ['faults.add', { rule: 'listPets:503*2' }],
  ['storm.start', { storm: { rate: 0.1, for: '1m' } }],
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
    const send = createFetch(core, core.controlTarget.stopping)
    const list = (limit: number) =>
      send(new Request(`http://localhost/v1/pets?limit=${limit}`, { headers: { authorization: 'Bearer sandbox' } }))
    await list(name === 'conduct.expect' ? 0 : 1)
    for (const [verb, input] of BEFORE) await call(verb, '', input)
    await call('records.remove', 'checkout', { resource: 'pets', id: 2 })
    if (name === 'undo') await call('reset', '', {})
    const space = name === 'spaces.copy' ? 'refunds' : ''
    const { example = {} }: Verb = VERBS[name]
    // The id of an undo is not known before.
    const input = name === 'undo' ? {} : example
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
