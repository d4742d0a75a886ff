import type { Operation } from '../contract/contract.js'
import { isStateful } from '../contract/resource-data.js'
import { keyLabel } from '../domain/keys.js'
import type { Space } from './space.js'

/** What a request without a valid key can send to the operations of an own contract, as a sentence. */
export function whatWorks({ keys, seed, shared: { contract, basePath, hasLogins } }: Space): string {
  const login = hasLogins
    ? contract.operations.find((operation) => operation.isLogin && !isStateful(operation) && !isOther(operation))
    : undefined
  const key = seed.keys.find(
    (apiKey) => apiKey.always === undefined && keyLabel(apiKey) === apiKey.key && keys.has(apiKey.key),
  )
  const ways = [
    ...(login === undefined ? [] : [`the token of ${login.method} ${basePath}${login.path}`]),
    ...(key === undefined ? [] : [`the key ${key.key}`]),
  ]
  return ways.length === 0 ? '' : ` Send ${ways.join(' or ')}.`
}

function isOther({ id, path }: Operation): boolean {
  return /refresh|reset|revoke|log[-_]?out/i.test(`${path} ${id}`)
}
