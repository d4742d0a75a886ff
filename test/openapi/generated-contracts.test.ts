import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { randomStream } from '../../src/domain/random.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { bodyMakers } from '../support/body-maker.js'
import fc from '../support/fast-check.js'
import { documentOf, envelopeOf, idName, type RandomResource, randomResources } from '../support/random-contract.js'
import { runs } from '../support/test-seed.js'
import { transports } from '../support/transports.js'

type Values = Readonly<Record<string, unknown>>

const REQUESTS = 60

/** With --strict, a response that breaks the contract is a 500. */
it('a random contract is kept by every response, and no record is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'random-contract-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let file = 0
  const property = fc.asyncProperty(randomResources, fc.nat(), async (resources, seed) => {
    const spec = join(folder, `${file++}.json`)
    writeFileSync(spec, JSON.stringify(documentOf(resources)))
    await exercise(spec, resources, seed)
  })
  await fc.assert(property, { numRuns: runs(100) })
})

async function exercise(spec: string, resources: readonly RandomResource[], seed: number): Promise<void> {
  const random = randomStream(`${seed}`)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)]
  const contract = await loadContract(spec)
  expect(contract.operations.filter(({ action }) => action === undefined).map(({ whyMocked }) => whyMocked)).toEqual([])
  const makers = await bodyMakers(spec, contract, random)
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const sandbox = await openSandbox({ spec, basePath: '/v1', strict: true, rateLimit: false, freeze: true })
  /** The records that must be there, by resource, scope and id. */
  const model = new Map<string, Values>()
  const keysOf = (start: string) => [...model.keys()].filter((key) => key.startsWith(start))
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await sandbox.call(`/v1${path}`, { method, ...(body === undefined ? {} : { body }) })
    const said = `${method} ${path} ${JSON.stringify(body)}: ${response.status} ${response.text} ${sandbox.warnings}`
    expect([200, 201, 204, 400, 404, 409], said).toContain(response.status)
    return { ...response, said }
  }
  const parentOf = (one: RandomResource) =>
    one.isNested ? resources.slice(0, resources.indexOf(one)).findLast(({ isNested }) => !isNested) : undefined
  for (let step = 0; step < REQUESTS; step++) {
    const operation = pick(contract.operations)
    const one = resources.find(({ name }) => operation?.id.startsWith(name))
    if (operation?.action === undefined || one === undefined) continue
    const { kind } = operation.action
    const parent = parentOf(one)
    const owner = parent && (pick(keysOf(`${parent.name}//`))?.split('/')[2] ?? '4711')
    const scope = `${one.name}/${owner ?? ''}/`
    const id = random.next() < 0.9 ? (pick(keysOf(scope))?.split('/')[2] ?? '4711') : '4711'
    const values = [...(owner === undefined ? [] : [owner]), id]
    const path = operation.path.replaceAll(/\{[^{}]*\}/g, () => encodeURIComponent(values.shift() ?? ''))
    const isValid = random.next() < 0.9
    const made = makers.get(operation.id)?.make()
    const { status, json, said } = await send(operation.method, path, isValid || made === undefined ? made : [])
    const record = (operation.action.envelope === undefined ? json : Object(json)[operation.action.envelope]) as Values
    const isThere = owner === undefined || model.has(`${parent?.name}//${owner}`)
    const known = model.get(scope + id)
    if (kind === 'list') expect(status, said).toBe(isThere ? 200 : 404)
    else if (!isValid && made !== undefined) expect([400, 404], said).toContain(status)
    else if (kind === 'create') {
      const canClash = one.id === 'chosen' || one.fields.some(({ isUnique }) => isUnique)
      expect(isThere ? (canClash ? [201, 409] : [201]) : [404], said).toContain(status)
      if (status !== 201) continue
      const key = scope + String(record[idName(one)])
      expect(model.has(key), said).toBe(false)
      model.set(key, record)
    } else if (known === undefined) expect(status, said).toBe(404)
    else if (status === 409) expect(one.fields.some(({ isUnique }) => isUnique)).toBe(true)
    else if (kind === 'remove') {
      expect(status, said).toBeLessThan(300)
      model.delete(scope + id)
      if (!one.isNested)
        for (const child of resources)
          if (parentOf(child) === one) for (const key of keysOf(`${child.name}/${id}/`)) model.delete(key)
    } else {
      expect(status, said).toBe(200)
      if (kind === 'get') expect(record, said).toEqual(known)
      expect(String(record[idName(one)]), said).toBe(id)
      model.set(scope + id, record)
    }
  }
  for (const one of resources) {
    const list = contract.operations.find(({ id }) => id === `${one.name}List`)?.path ?? ''
    const parent = parentOf(one)
    const owners = parent === undefined ? [''] : keysOf(`${parent.name}//`).map((key) => key.split('/')[2] ?? '')
    for (const owner of owners) {
      const path = list.replace(/\{[^{}]*\}/, encodeURIComponent(owner))
      const expected = keysOf(`${one.name}/${owner}/`).map((key) => model.get(key))
      const found = await walk(one, async (query) => (await send('GET', `${path}?${query}`)).json)
      expect(byId(found, one), path).toEqual(byId(expected as readonly Values[], one))
    }
  }
  const envelopes = resources.map(envelopeOf)
  expect(
    sandbox.warnings.filter((warning) => warning.includes('breaks')),
    `${envelopes}`,
  ).toEqual([])
}

/** All records of a list, two a page. */
async function walk(one: RandomResource, get: (query: string) => Promise<unknown>): Promise<readonly Values[]> {
  const all: Values[] = []
  for (let page = 0; page < REQUESTS; page++) {
    const after = all.length === 0 ? '' : `&after=${encodeURIComponent(String(all.at(-1)?.[idName(one)]))}`
    const query = {
      none: '',
      offset: `limit=2&offset=${all.length}`,
      page: `per_page=2&page=${page + 1}`,
      cursor: `limit=2${after}`,
    }
    const json = await get(query[one.pages])
    const records = (one.list === 'bare' ? json : Object(json)[one.list]) as readonly Values[]
    all.push(...records)
    if (records.length < 2 || one.pages === 'none') break
  }
  return all
}

function byId(records: readonly Values[], one: RandomResource): readonly Values[] {
  return records.toSorted((a, b) => (String(a[idName(one)]) < String(b[idName(one)]) ? -1 : 1))
}
