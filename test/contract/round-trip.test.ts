import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Contract, Operation } from '../../src/contract/contract.js'
import { loadContract } from '../../src/contract/load-contract.js'
import type { ResourceAction, ResourceData } from '../../src/contract/resource-data.js'
import { randomStream } from '../../src/domain/random.js'
import { bodyMakers } from '../support/body-maker.js'
import { TEST_SEED } from '../support/test-seed.js'
import { type Seen, type TestSandbox, transports } from '../support/transports.js'

type Values = Readonly<Record<string, unknown>>
type Kind = ResourceAction['kind']

/** `TEST_CONTRACTS=<folder>` tests other contracts. */
const FOLDER = process.env.TEST_CONTRACTS ?? fileURLToPath(new URL('specs', import.meta.url))

/** A client that takes each record of a contract through its life. */
class Traveller {
  readonly #contract: Contract
  readonly #sandbox: TestSandbox
  readonly #makers: Awaited<ReturnType<typeof bodyMakers>>

  constructor(contract: Contract, sandbox: TestSandbox, makers: Awaited<ReturnType<typeof bodyMakers>>) {
    this.#contract = contract
    this.#sandbox = sandbox
    this.#makers = makers
  }

  async travel(resource: ResourceData): Promise<void> {
    const scope = await this.#parents(resource)
    const created = await this.#create(resource, scope)
    let record = created ?? (await this.#list(resource, scope, {}))[0] ?? {}
    const id = record[resource.id.property]
    const check = async () => {
      if (this.#operation(resource, 'get') !== undefined) expect(await this.#get(resource, scope, id)).toEqual(record)
      const list = this.#operation(resource, 'list')
      if (list === undefined || neededBy(list).some((property) => record[property] === undefined)) return
      const same = (await this.#list(resource, scope, record)).filter((one) => one[resource.id.property] === id)
      expect(same).toHaveLength(1)
    }
    await check()
    for (const kind of ['merge', 'replace'] as const) {
      const operation = this.#operation(resource, kind)
      if (operation === undefined) continue
      const response = await this.#send(operation, scope, id, { [resource.id.property]: id })
      expect(response.status).toBe(operation.action?.status)
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

  async #parents({ parents }: ResourceData): Promise<readonly unknown[]> {
    const scope: unknown[] = []
    for (const { resource } of parents) {
      const parent = this.#contract.resources.find(({ name }) => name === resource)
      scope.push(parent === undefined ? 'any' : (await this.#create(parent, [...scope]))?.[parent.id.property])
    }
    return scope
  }

  async #create(resource: ResourceData, scope: readonly unknown[]): Promise<Values | undefined> {
    const operation = this.#operation(resource, 'create')
    if (operation === undefined) return undefined
    const response = await this.#send(operation, scope)
    expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
    return recordIn(response, operation)
  }

  async #get(resource: ResourceData, scope: readonly unknown[], id: unknown): Promise<Values> {
    const operation = this.#operation(resource, 'get') as Operation
    const response = await this.#send(operation, scope, id)
    expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
    return recordIn(response, operation) ?? {}
  }

  async #list(resource: ResourceData, scope: readonly unknown[], record: Values): Promise<readonly Values[]> {
    const operation = this.#operation(resource, 'list') as Operation
    const query = neededBy(operation).map((name) => {
      const { example, enum: choices } = operation.parameters.find((one) => one.name === name) ?? {}
      const value = [record[name]].flat()[0] ?? example ?? choices?.[0] ?? 'x'
      return `${name}=${encodeURIComponent(String(value))}`
    })
    const response = await this.#send(operation, scope, undefined, {}, query.join('&'))
    expect(response.status, `${operation.id}: ${response.text}`).toBe(operation.action?.status)
    return recordIn(response, operation) as unknown as readonly Values[]
  }

  async #send(operation: Operation, scope: readonly unknown[], id?: unknown, more: Values = {}, query = '') {
    const values = [...scope, id]
    const path = operation.path.replaceAll(/\{[^{}]*\}/g, () => encodeURIComponent(String(values.shift())))
    const made = this.#makers.get(operation.id)?.make()
    const body = operation.action?.isIdInBody ? { ...Object(made), ...more } : made
    const options = { method: operation.method, ...(body === undefined ? {} : { body }) }
    const response = await this.#sandbox.call(`/v1${path}${query && `?${query}`}`, options)
    expect(response.status, `${operation.id} ${JSON.stringify(body)}: ${this.#sandbox.warnings}`).toBeLessThan(500)
    return response
  }

  #operation({ name }: ResourceData, kind: Kind): Operation | undefined {
    return this.#contract.operations.find(
      ({ action, isMocked }) => action?.resource === name && action.kind === kind && !action.pathFilters && !isMocked,
    )
  }
}

/** Query parameters that a request must have, or that filter even if it does not have them. */
function neededBy({ parameters, action }: Operation): readonly string[] {
  const filters = new Map(action?.query?.filters)
  const isNeeded = ({ in: where, name, required, default: value }: Operation['parameters'][number]) =>
    where === 'query' && (required || (value !== undefined && filters.has(name)))
  return parameters.filter(isNeeded).map(({ name }) => name)
}

function recordIn({ json }: Seen, { action }: Operation): Values | undefined {
  const value = action?.envelope === undefined ? json : Object(json)[action.envelope]
  return action?.hasBody === true ? (value as Values) : undefined
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
      const traveller = new Traveller(contract, sandbox, makers)
      for (const resource of contract.resources) await traveller.travel(resource)
      expect(contract.resources.length).toBeGreaterThan(0)
      expect(sandbox.warnings.filter((warning) => warning.includes('breaks the contract'))).toEqual([])
    },
  )
})
