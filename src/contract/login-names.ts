import type { OperationData } from './contract-data.js'

type Named = Pick<OperationData, 'id' | 'method' | 'path'>

const TOKEN = /^(?:(?:access|auth|id|refresh|session|bearer|jwt)_?(?:token|jwt)|token|jwt)$/i
/** In the response to a login. */
const TOKEN_OF_LOGIN = /^(?:access|refresh|key)$/i

/** A POST with the name of a login, whatever its response. */
export function isNamedLogin({ id, method, path }: Named): boolean {
  return method === 'POST' && /log[-_]?in|sign[-_]?in|session|token|authenticate/i.test(`${path} ${id}`)
}

/** `token` of a GET is another one, such as for CSRF. */
export function isToken(name: string, operation: Named): boolean {
  const isNamed = TOKEN.test(name) || (isNamedLogin(operation) && TOKEN_OF_LOGIN.test(name))
  return isNamed && !(operation.method === 'GET' && /^token$/i.test(name))
}
