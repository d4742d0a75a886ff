import { expect, it } from 'vitest'
import { operationMessage, withoutOperation } from '../../src/domain/problems.js'

it('an error message names its operation once', () => {
  const message = operationMessage('listPets', ['limit must be 1', 'status must be sold'])
  expect(message).toBe('listPets: limit must be 1; status must be sold.')
  expect(withoutOperation('listPets', message)).toBe('limit must be 1; status must be sold.')
  for (const other of ['listOrders', 'list', null, undefined]) expect(withoutOperation(other, message)).toBe(message)
})
