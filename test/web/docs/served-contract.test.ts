import { describe, expect, it } from 'vitest'
import { operationAt, servedContract } from '../../../src/web/docs/served-contract.js'

const HERE = 'http://127.0.0.1:4010/v1'
const serve = (contract: Record<string, unknown>) => servedContract(contract, HERE)

describe('a contract on the docs page', () => {
  it('has this sandbox as its only server, whatever paths and operations name', () => {
    const elsewhere = [{ url: 'https://api.petstore.example/v1' }]
    const { document } = serve({
      servers: elsewhere,
      paths: {
        '/pets': { servers: elsewhere, get: { servers: elsewhere } },
        '/orders': { $ref: '#/components/pathItems/orders' },
      },
      components: { pathItems: { orders: { servers: elsewhere, get: { servers: elsewhere, summary: 'Orders' } } } },
    })
    expect(document.servers).toEqual([{ url: HERE, description: 'This sandbox' }])
    expect(JSON.stringify(document.paths)).not.toContain('example')
    expect(operationAt(document, '/orders', 'get')).toMatchObject({ summary: 'Orders' })
  })

  it('keeps the bearer scheme that it has, by its name', () => {
    const security = [{ shopKey: [] }]
    const { document, scheme } = serve({
      security,
      components: { securitySchemes: { old: { type: 'apiKey' }, shopKey: { type: 'http', scheme: 'Bearer' } } },
    })
    expect(scheme).toBe('shopKey')
    expect(document.security).toBe(security)
  })

  it('takes a key even where the contract needs none, since the sandbox requires one', () => {
    const { document, scheme } = serve({ paths: { '/open': { get: { security: [] } }, '/pets': { get: {} } } })
    const security = [{ [scheme]: [] }]
    expect(document).toMatchObject({ security, components: { securitySchemes: { [scheme]: { scheme: 'bearer' } } } })
    expect(operationAt(document, '/open', 'get')).toEqual({ security })
    expect(operationAt(document, '/pets', 'get')).toEqual({})
  })

  it('fills in examples of required parameters only', () => {
    const required = { name: 'petId', in: 'path', required: true, example: 1 }
    const optional = { name: 'status', in: 'query', examples: { sold: { value: 'sold' } } }
    const { document } = serve({ paths: { '/pets': { get: { parameters: [required, optional] } } } })
    expect(operationAt(document, '/pets', 'get').parameters).toEqual([required, { name: 'status', in: 'query' }])
  })
})
