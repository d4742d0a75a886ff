import { describe, expect, it } from 'vitest'
import { operationMessage, withoutOperation } from '../../src/domain/problems.js'

describe('an error message of a request', () => {
  const message = operationMessage('listPets', ['limit must be 1', 'status must be sold'])

  it('names the operation once', () => {
    expect(message).toBe('listPets: limit must be 1; status must be sold.')
    expect(withoutOperation('listPets', message)).toBe('limit must be 1; status must be sold.')
  })

  it.each(['listOrders', 'list', null, undefined])('is unchanged for the operation %s', (operation) => {
    expect(withoutOperation(operation, message)).toBe(message)
  })
})
