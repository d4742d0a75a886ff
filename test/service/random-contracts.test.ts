import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Operation } from '../../src/contract/contract.js'
import { loadContract } from '../../src/contract/load-contract.js'
import { randomStream } from '../../src/domain/random.js'
import { bodyMakers } from '../support/body-maker.js'
import { TEST_SEED } from '../support/test-seed.js'
import { transports } from '../support/transports.js'

/** With --strict, a response that breaks the contract is a 500. */
const FOLDER = fileURLToPath(new URL('../contract/specs/', import.meta.url))

it.each(readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && name !== 'mocked.yaml'))(
  'every response to random requests keeps the contract: %s',
  async (name) => {
    const seed = `${TEST_SEED}:${name}`
    const random = randomStream(seed)
    const file = FOLDER + name
    const contract = await loadContract(file)
    const makers = await bodyMakers(file, contract, random)
    const [[, openSandbox]] = transports as [(typeof transports)[number]]
    const sandbox = await openSandbox({ spec: file, strict: true, rateLimit: false, freeze: true })
    const stateful = contract.operations.filter(({ action }) => action !== undefined)
    const ids = new Map<string, unknown[]>()
    const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)]
    const targetOf = ({ path, action }: Operation) =>
      path.replaceAll(/\{[^{}]*\}/g, () => {
        const known = pick(ids.get(action?.resource ?? '') ?? [])
        return encodeURIComponent(String(random.next() < 0.2 || known === undefined ? 4711 : known))
      })
    const statuses = new Set<number>()
    const { basePath } = sandbox.core.spaces.default.shared
    for (let i = 0; i < 300; i++) {
      const operation = pick(stateful) as Operation
      const { method, id, action } = operation
      const body = makers.get(id)?.make()
      const response = await sandbox.call(basePath + targetOf(operation), {
        method,
        ...(body === undefined ? {} : { body }),
      })
      statuses.add(response.status)
      expect(
        response.status,
        `seed ${seed}: ${method} ${id} ${JSON.stringify(body)}: ${sandbox.warnings}`,
      ).toBeLessThan(500)
      const property = contract.resources.find((one) => one.name === action?.resource)?.id.property ?? ''
      const value = Object(response.json)[property] as unknown
      if (action?.kind === 'create' && value !== undefined)
        ids.set(action.resource, [...(ids.get(action.resource) ?? []), value])
    }
    expect([...statuses].some((status) => status < 300)).toBe(true)
    expect(sandbox.warnings.filter((warning) => warning.includes('breaks the contract'))).toEqual([])
  },
)
