import type { Operation } from '../contract/contract.js'
import { keyLabel } from '../domain/keys.js'
import type { Space } from './space.js'

/** What a request without a valid key can send to the operations of an own contract, as a sentence. */
export function whatWorks({ keys, seed, shared: { contract, basePath, hasLogins } }: Space): string {
  const login = hasLogins ? contract.operations.find(isLogin) : undefined
  const key = seed.keys.find(
    (apiKey) => apiKey.always === undefined && keyLabel(apiKey) === apiKey.key && keys.has(apiKey.key),
  )
  const ways = [
    ...(login === undefined ? [] : [`the token of ${login.method} ${basePath}${login.path}`]),
    ...(key === undefined ? [] : [`the key ${key.key}`]),
  ]
  return ways.length === 0 ? '' : ` Send ${ways.join(' or ')}.`
}

function isLogin({ id, method, path, isPublic }: Operation): boolean {
  const name = `${path} ${id}`
  const isNamed = /log[-_]?in|sign[-_]?in|session|token|authenticate/i.test(name)
  return method === 'POST' && isPublic === true && isNamed && !/refresh|reset|revoke|log[-_]?out/i.test(name)
}
