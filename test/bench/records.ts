import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSandboxCore } from '../../src/compose.js'
import { createFetch } from '../../src/http/fetch-adapter.js'
import { embeddedOptions } from '../support/embedded-options.js'

/** Compares the records of any resource with pets, in process: `node --expose-gc --import tsx test/bench/records.ts [count]`. */

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

async function measure(resource: string, count: number): Promise<Readonly<Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), 'records-bench-'))
  const spec = join(folder, 'openapi.yaml')
  writeFileSync(spec, contract(resource))
  const records = Array.from({ length: count }, (_, at) => {
    return JSON.stringify({ id: at + 1, name: `Animal ${at}`, categoryId: at % 7, status: STATUSES[at % 3] })
  })
  writeFileSync(join(folder, `${resource}.json`), `[${records}]`)
  records.length = 0
  const megabytes = () => {
    globalThis.gc?.()
    return Math.round(process.memoryUsage().rss / 1e6)
  }
  const begun = performance.now()
  const options = { spec, fixtures: folder, rateLimit: false, maxStore: '4GiB', freeze: true }
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
  const figures: Record<string, number> = { 'start, ms': Math.round(performance.now() - begun) }
  const time = async (name: string, act: (round: number) => Promise<unknown>) => {
    const from = performance.now()
    let round = 0
    while (round < ROUNDS && performance.now() - from < 5000) await act(round++)
    figures[name] = Math.round(((performance.now() - from) / round) * 1000)
  }
  const idOf = (round: number) => ((round * 7919) % count) + 1
  await time('warm-up', (round) => call('GET', `/${idOf(round)}`))
  await time('get, µs', (round) => call('GET', `/${idOf(round)}`))
  await time('list, µs', (round) => call('GET', `?limit=${(round % 20) + 1}`))
  await time('filter, µs', (round) => call('GET', `?status=${STATUSES[round % 3]}&limit=${(round % 20) + 1}`))
  await time('create, µs', (round) => call('POST', '', { name: `New ${round}`, categoryId: 1, status: 'sold' }))
  await time('list after a change, µs', async (round) => {
    await call('POST', '', { name: `New ${round}`, categoryId: 1 })
    await call('GET', '')
  })
  await time('delete, µs', (round) => call('DELETE', `/${idOf(round)}`))
  figures['memory, MB'] = megabytes()
  await core.close()
  rmSync(folder, { recursive: true })
  delete figures['warm-up']
  return figures
}

const [count = '1000000', resource] = process.argv.slice(2)
if (resource === undefined) {
  const file = fileURLToPath(import.meta.url)
  const [pets, others] = ['pets', 'articles'].map((name) => {
    const child = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', file, count, name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(child.stdout) as Record<string, number>
  })
  const rows = Object.keys(pets ?? {}).map((name) => `| ${name} | ${pets?.[name]} | ${others?.[name]} |\n`)
  process.stdout.write(`|  | pets | articles |\n| --- | --- | --- |\n${rows.join('')}`)
} else process.stdout.write(JSON.stringify(await measure(resource, Number(count))))
