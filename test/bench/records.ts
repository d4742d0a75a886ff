import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSandboxCore } from '../../src/compose.js'
import { createFetch } from '../../src/http/fetch-adapter.js'
import { embeddedOptions } from '../support/embedded-options.js'

/** Compares the processor time and memory of any resource with pets, in process: `node --import tsx test/bench/records.ts [count]`. */

const STATUSES = ['available', 'pending', 'sold']
const ROUNDS = 2000

function contract(resource: string): string {
  const content = (schema: string) => `content: { application/json: { schema: ${schema} } }`
  const reply = (status: number, schema: string) => `'${status}': { description: ok, ${content(schema)} }`
  const one = "{ $ref: '#/components/schemas/One' }"
  return `openapi: 3.1.0
info: { title: Records, version: '1' }
paths:
  /${resource}:
    get:
      operationId: list
      parameters:
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100, default: 20 } }
        - { name: status, in: query, schema: { type: string, enum: [${STATUSES}] } }
      responses: { ${reply(200, `{ type: array, items: ${one} }`)} }
    post:
      operationId: create
      requestBody: { required: true, ${content("{ $ref: '#/components/schemas/New' }")} }
      responses: { ${reply(201, one)} }
  /${resource}/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer, format: int64 } }]
    get: { operationId: get, responses: { ${reply(200, one)} } }
    delete: { operationId: remove, responses: { '204': { description: gone } } }
components:
  schemas:
    New:
      type: object
      required: [name, categoryId]
      properties: { name: { type: string }, categoryId: { type: integer, format: int64 }, status: { type: string, enum: [${STATUSES}] } }
    One: { allOf: [{ $ref: '#/components/schemas/New' }, { type: object, required: [id], properties: { id: { type: integer, format: int64 } } }] }
`
}

interface Run {
  readonly resource: string
  readonly count: number
  readonly folder: string
  /** `write` starts a store, and `open` opens it again. */
  readonly mode: 'memory' | 'write' | 'open'
}

/** In milliseconds: other processes do not change it. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measure({ resource, count, folder, mode }: Run): Promise<Readonly<Record<string, number>>> {
  const megabytes = () => {
    globalThis.gc?.()
    return Math.round(process.memoryUsage().rss / 1e6)
  }
  const begun = processorTime()
  const options = {
    spec: join(folder, 'openapi.yaml'),
    rateLimit: false,
    maxStore: '4GiB',
    freeze: true,
    ...(mode === 'memory' ? {} : { store: join(folder, 'store.json') }),
    ...(mode === 'open' ? {} : { fixtures: folder }),
  }
  const core = await openSandboxCore(embeddedOptions(options), {})
  await core.begin('')
  const service = createFetch(core, core.controlTarget.stopping)
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await service(new Request(`http://sandbox/v1/${resource}${path}`, request))
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.text()
  }
  await call('GET', '?limit=1')
  const figures: Record<string, number> = { [`start, ${mode}, ms`]: Math.round(processorTime() - begun) }
  const time = async (name: string, act: (round: number) => Promise<unknown>) => {
    const from = processorTime()
    for (let round = 0; round < ROUNDS; round++) await act(round)
    figures[`${name}, ${mode}, µs`] = Math.round(((processorTime() - from) / ROUNDS) * 1000)
  }
  const idOf = (round: number) => ((round * 7919) % count) + 1
  if (mode !== 'write') {
    for (let round = 0; round < ROUNDS; round++) await call('GET', `/${idOf(round)}`)
    await time('get', (round) => call('GET', `/${idOf(round)}`))
    await time('list', (round) => call('GET', `?limit=${(round % 20) + 1}`))
    await time('filter', (round) => call('GET', `?status=${STATUSES[round % 3]}&limit=${(round % 20) + 1}`))
    await time('create', (round) => call('POST', '', { name: `New ${round}`, categoryId: 1, status: 'sold' }))
    await time('list after a change', async (round) => {
      await call('POST', '', { name: `New ${round}`, categoryId: 1 })
      await call('GET', '')
    })
    await time('delete', (round) => call('DELETE', `/${idOf(round)}`))
  }
  if (mode !== 'write') figures[`memory, ${mode}, MB`] = megabytes()
  await core.close()
  return figures
}

function measureInChildren(resource: string, count: number): Readonly<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'records-bench-'))
  writeFileSync(join(folder, 'openapi.yaml'), contract(resource))
  const records = Array.from({ length: count }, (_, at) => {
    return JSON.stringify({ id: at + 1, name: `Animal ${at}`, categoryId: at % 7, status: STATUSES[at % 3] })
  })
  writeFileSync(join(folder, `${resource}.json`), `[${records}]`)
  const figures = (['memory', 'write', 'open'] as const).map((mode): Readonly<Record<string, number>> => {
    const run: Run = { resource, count, folder, mode }
    const file = fileURLToPath(import.meta.url)
    const child = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', file, JSON.stringify(run)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(child.stdout)
  })
  rmSync(folder, { recursive: true })
  return Object.assign({}, ...figures)
}

const [argument = '1000000'] = process.argv.slice(2)
if (argument.startsWith('{')) process.stdout.write(JSON.stringify(await measure(JSON.parse(argument))))
else {
  const [pets, others] = ['pets', 'articles'].map((resource) => measureInChildren(resource, Number(argument)))
  const rows = Object.keys(pets ?? {}).map((name) => `| ${name} | ${pets?.[name]} | ${others?.[name]} |\n`)
  process.stdout.write(`|  | pets | articles |\n| --- | ---: | ---: |\n${rows.join('')}`)
}
