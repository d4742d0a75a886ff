import { describe, expect, it } from 'vitest'
import { ContractModel } from '../../../src/web/docs/contract-model.js'
import { provocationOf } from '../../../src/web/docs/provoke.js'

describe('how an answer is provoked', () => {
  it.each([
    [99.5, '100'],
    [100, '101'],
    [9223372036854775806n, '9223372036854775807'],
  ])('is by one more than a maximum of %s', (maximum, expected) => {
    const contract = new ContractModel({
      openapi: '3.1.0',
      info: { title: 'Weights', version: '1' },
      paths: {
        '/weights': {
          get: {
            operationId: 'listWeights',
            parameters: [{ name: 'most', in: 'query', schema: { type: 'number', maximum } }],
            responses: { 400: { description: 'Too much' } },
          },
        },
      },
    })
    const [operation] = contract.operations
    const provoked = operation && provocationOf(contract, operation, '400', ['sandbox'])
    expect(provoked).toMatchObject({ how: `with most=${expected}`, inputs: { parameters: { most: expected } } })
  })
})
