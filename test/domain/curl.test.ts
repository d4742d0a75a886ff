import { expect, it } from 'vitest'
import { BEARER } from '../../src/contract/contract-data.js'
import { curlCommand } from '../../src/domain/curl.js'

it('a request as a curl command refers to the key in the environment, and quotes every other header', () => {
  const headers = [['authorization', 'Bearer sk_live'] as const, ['X-Note', '$PETSTORE_API_KEY"; ls; "'] as const]
  expect(
    curlCommand({ method: 'GET', url: 'http://127.0.0.1/v1/pets', headers, body: undefined, keyHeaders: [BEARER] }),
  ).toBe(
    `curl -sS -H "authorization: Bearer $PETSTORE_API_KEY" -H 'X-Note: $PETSTORE_API_KEY"; ls; "' http://127.0.0.1/v1/pets`,
  )
})
