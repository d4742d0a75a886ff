import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Contract, Operation } from '../../src/contract/contract.js'
import { type Place, rootPlace } from '../../src/contract/document.js'
import { drawnValue } from '../../src/contract/example-value.js'
import { parseJson } from '../../src/contract/json.js'
import type { ResourceAction, ResourceData } from '../../src/contract/resource-data.js'
import { randomStream } from '../../src/domain/random.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { bodyMakers } from '../support/body-maker.js'
import { TEST_SEED } from '../support/test-seed.js'
import { type Seen, type TestSandbox, transports } from '../support/transports.js'

type Values = Readonly<Record<string, unknown>>
type Kind = ResourceAction['kind']

/** `TEST_CONTRACTS=<folder>` tests other contracts. */
const FOLDER = process.env.TEST_CONTRACTS ?? fileURLToPath(new URL('../contract/specs', import.meta.url))

const METHODS = ['get', 'put', 'post', 'delete', 'patch']
/** A record of a contract may allow less than the request that creates it. */
const MAX_ATTEMPTS = 20

/** A client that takes each record of a contract through its life. */
class Traveller {
  readonly #contract: Contract
  readonly #sandbox: TestSandbox
  readonly #makers: Awaited<ReturnType<typeof bodyMakers>>

  readonly #root: Place

  constructor(contract: Contract, root: Place, sandbox: TestSandbox, makers: Awaited<ReturnType<typeof bodyMakers>>) {
    this.#root = root
    this.#contract = contract
    this.#sandbox = sandbox
    this.#makers = makers
  }

  async travel(resource: ResourceData): Promise<void> {
    const scope = await this.#parents(resource)
    const created = await this.#create(resource, scope)
    const isListed = this.#operation(resource, 'list') !== undefined
    let record = created ?? (isListed ? (await this.#list(resource, scope, {}))[0] : resource.examples?.[0]) ?? {}
    const id = record[resource.id.property]
    // Without an operation that creates them, there are none.
    if (id === undefined) return
    const check = async () => {
      if (this.#operation(resource, 'get') !== undefined) expect(await this.#get(resource, scope, id)).toEqual(record)
      const list = this.#operation(resource, 'list')
      if (list === undefined || neededBy(list).some((property) => !isAllowed(list, property, record[property]))) return
      const same = (await this.#list(resource, scope, record)).filter((one) => one[resource.id.property] === id)
      expect(same).toHaveLength(1)
    }
    await check()
    for (const kind of ['merge', 'replace'] as const) {
      const operation = this.#operation(resource, kind)
      if (operation === undefined) continue
      const change = () => this.#send(operation, scope, id, { [resource.id.property]: id })
      let response = await change()
      for (let i = 0; i < MAX_ATTEMPTS && response.status === 400; i++) response = await change()
      // Alternatives that exclude one another may leave no body.
      if (response.status === 400 && operation.checkBody(this.#makers.get(operation.id)?.make() as Values).length > 0)
        continue
      expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
      record = recordIn(response, operation) ?? (await this.#get(resource, scope, id))
      expect(record[resource.id.property]).toBe(id)
      await check()
    }
    const remove = this.#operation(resource, 'remove')
    if (remove !== undefined) {
      expect((await this.#send(remove, scope, id)).status).toBe(remove.action?.status)
      const get = this.#operation(resource, 'get')
      if (get !== undefined) expect((await this.#send(get, scope, id)).status).toBe(404)
      else expect((await this.#list(resource, scope, {})).map((one) => one[resource.id.property])).not.toContain(id)
      expect((await this.#send(remove, scope, id)).status).toBe(404)
    }
  }

  async #parents({ path, parents }: ResourceData): Promise<readonly unknown[]> {
    const scope: unknown[] = []
    for (const { resource, parameter } of parents) {
      const parent = this.#contract.resources.find(({ name }) => name === resource)
      const record = parent && ((await this.#create(parent, scope)) ?? (await this.#list(parent, scope, {}))[0])
      scope.push(parent === undefined ? this.#valueOf(path, parameter) : record?.[parent.id.property])
    }
    return scope
  }

  async #create(resource: ResourceData, scope: readonly unknown[]): Promise<Values | undefined> {
    const operation = this.#operation(resource, 'create')
    if (operation === undefined) return undefined
    let response = await this.#send(operation, scope)
    for (let i = 0; i < MAX_ATTEMPTS && response.status === 400; i++) response = await this.#send(operation, scope)
    expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
    return recordIn(response, operation)
  }

  /** A value of a path parameter that identifies no record. */
  #valueOf(path: string, name: string): unknown {
    const items = this.#root.children('paths').flatMap(([one, item]) => (one.startsWith(path) ? [item] : []))
    const places = items.flatMap((item) => [item, ...METHODS.flatMap((method) => item.child(method) ?? [])])
    const found = places
      .flatMap((place) => place.items('parameters'))
      .find((one) => one.string('in') === 'path' && one.string('name') === name)
    const schema = found?.child('schema')
    const value = schema && drawnValue(schema, 0, randomStream(TEST_SEED))
    return value ?? 'any'
  }

  async #get(resource: ResourceData, scope: readonly unknown[], id: unknown): Promise<Values> {
    const operation = this.#operation(resource, 'get') as Operation
    const response = await this.#send(operation, scope, id)
    expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
    return recordIn(response, operation) ?? {}
  }

  async #list(resource: ResourceData, scope: readonly unknown[], record: Values): Promise<readonly Values[]> {
    const operation = this.#operation(resource, 'list') as Operation
    const response = await this.#send(operation, scope, undefined, {}, queryOf(operation, record))
    expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
    return recordIn(response, operation) as unknown as readonly Values[]
  }

  async #send(
    operation: Operation,
    scope: readonly unknown[],
    id?: unknown,
    more: Values = {},
    query = queryOf(operation),
  ) {
    const values = [...scope, id]
    const path = operation.path.replaceAll(/\{[^{}]*\}/g, () => encodeURIComponent(String(values.shift())))
    const made = this.#makers.get(operation.id)?.make()
    const body = operation.action?.isIdInBody ? { ...Object(made), ...more } : made
    const options = { method: operation.method, ...(body === undefined ? {} : { body }) }
    const response = await this.#sandbox.call(`/v1${path}${query && `?${query}`}`, options)
    expect(response.status, `${operation.id} ${JSON.stringify(body)}: ${this.#sandbox.warnings.at(-1)}`).toBeLessThan(
      500,
    )
    return response
  }

  #operation({ name }: ResourceData, kind: Kind): Operation | undefined {
    return this.#contract.operations.find(
      ({ action, isMocked }) => action?.resource === name && action.kind === kind && !action.pathFilters && !isMocked,
    )
  }
}

function isAllowed({ parameters }: Operation, name: string, value: unknown): boolean {
  const { enum: choices } = parameters.find((one) => one.name === name) ?? {}
  return value !== undefined && choices?.includes(value) !== false
}

/** @param record that a list is filtered for */
function queryOf(operation: Operation, record: Values = {}): string {
  const query = neededBy(operation).map((name) => {
    const { example, enum: choices } = operation.parameters.find((one) => one.name === name) ?? {}
    const value = [record[name]].flat()[0] ?? example ?? choices?.[0] ?? 'x'
    return `${name}=${encodeURIComponent(String(value))}`
  })
  return query.join('&')
}

/** Query parameters that a request must have, or that filter even if it does not have them. */
function neededBy({ parameters, action }: Operation): readonly string[] {
  const filters = new Set(action?.query?.filters.map(([parameter]) => parameter))
  const isNeeded = ({ in: where, name, required, default: value }: Operation['parameters'][number]) =>
    where === 'query' && (required || (value !== undefined && filters.has(name)))
  return parameters.filter(isNeeded).map(({ name }) => name)
}

function recordIn({ json }: Seen, { action }: Operation): Values | undefined {
  const value = action?.envelope === undefined ? json : Object(json)[action.envelope]
  const isWhole = action?.kind === 'list' || (action?.view === undefined && action?.isNotice === undefined)
  return action?.hasBody === true && isWhole ? (value as Values) : undefined
}

describe('each resource: create, get, list, merge, replace, get, remove, 404', () => {
  it.each(readdirSync(FOLDER).filter((name) => /\.(ya?ml|json)$/.test(name) && name !== 'mocked.yaml'))(
    '%s',
    async (name) => {
      const file = `${FOLDER}/${name}`
      const contract = await loadContract(file)
      const [[, openSandbox]] = transports as [(typeof transports)[number]]
      const options = { spec: file, basePath: '/v1', strict: true, rateLimit: false, freeze: true } as const
      const sandbox = await openSandbox(options)
      const makers = await bodyMakers(file, contract, randomStream(`${TEST_SEED}:${name}`))
      const traveller = new Traveller(contract, rootPlace(parseJson(await contract.text('json'))), sandbox, makers)
      const failures: string[] = []
      for (const resource of contract.resources)
        await traveller.travel(resource).catch((error: Error) => failures.push(`${resource.name}: ${error.message}`))
      expect(failures).toEqual([])
      const unexplained = contract.operations.filter(({ action, whyMocked }) => !action && !whyMocked)
      expect(unexplained.map(({ id }) => id)).toEqual([])
      expect(sandbox.warnings.filter((warning) => warning.includes('breaks the contract'))).toEqual([])
    },
  )
})
