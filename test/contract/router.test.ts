import { describe, expect, it } from 'vitest'
import type { Route } from '../../src/contract/contract.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'

function routed(method: string, path: string): unknown {
  const route: Route = packagedContract().route(method, path)
  if (route.kind === 'operation') return [route.operation.id, ...route.captured]
  return route.kind === 'unknown' ? 'unknown' : `allow ${route.allow.join(', ')}`
}

describe('a request', () => {
  it.each([
    ['GET', '/pets', ['listPets']],
    ['HEAD', '/pets', ['listPets']],
    ['POST', '/pets', ['createPet']],
    ['GET', '/pets/1', ['getPet', '1']],
    ['GET', '/pets/a%2Fb', ['getPet', 'a%2Fb']],
    ['GET', '/pets/{petId}', ['getPet', '{petId}']],
    ['GET', '/store/orders', ['listOrders']],
    ['DELETE', '/pets', 'allow GET, HEAD, POST'],
    ['get', '/pets', 'allow GET, HEAD, POST'],
    ['PUT', '/pets/1', 'allow GET, HEAD'],
    ['GET', '/', 'unknown'],
    ['GET', '/pets/', 'unknown'],
    ['GET', '/Pets', 'unknown'],
    ['GET', '/pets/1/toys', 'unknown'],
    ['GET', '//pets', 'unknown'],
    ['GET', '/constructor', 'unknown'],
  ])('%s %s goes to %j', (method, path, expected) => {
    expect(routed(method, path)).toEqual(expected)
  })
})
