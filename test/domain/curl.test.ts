import { expect, it } from 'vitest'
import { curlCommand, shellWord } from '../../src/advice/curl.js'
import { BEARER } from '../../src/contract/contract-data.js'

it('a request as a curl command refers to the key in the environment, and quotes every other header', () => {
  const headers = [['authorization', 'Bearer sk_live'] as const, ['X-Note', '$PETSTORE_API_KEY"; ls; "'] as const]
  expect(
    curlCommand({ method: 'GET', url: 'http://127.0.0.1/v1/pets', headers, body: undefined, keyHeaders: [BEARER] }),
  ).toBe(
    `curl -sS -H "authorization: Bearer $PETSTORE_API_KEY" -H 'X-Note: $PETSTORE_API_KEY"; ls; "' http://127.0.0.1/v1/pets`,
  )
})

it.each([
  ['X-`touch P`', `'X-\`touch P\`: '"$PETSTORE_API_KEY"`],
  ['X-$(touch P)', `'X-$(touch P): '"$PETSTORE_API_KEY"`],
  ['X-Key', '"X-Key: $PETSTORE_API_KEY"'],
])('quotes the name of a key header, which a contract chooses: %s', (name, word) => {
  const keyHeaders = [{ name, prefix: '' }]
  const headers = [[name, '']] as const
  const command = curlCommand({ method: 'GET', url: 'http://a/b', headers, body: undefined, keyHeaders })
  expect(command).toBe(`curl -sS -H ${word} http://a/b`)
})

it('quotes what stands before the key in a cookie and in the query, which a contract chooses too', () => {
  const keyHeaders = [{ name: 'Cookie', prefix: '`touch P`=' }]
  const headers = [['Cookie', '']] as const
  const request = { method: 'GET', url: 'http://a/b?c=1', headers, body: undefined, keyHeaders }
  const command = curlCommand({ ...request, keyQuery: '$(d)=&e=' })
  const query = `'http://a/b?c=1&$(d)='"$PETSTORE_API_KEY"'&e='"$PETSTORE_API_KEY"`
  expect(command).toBe(`curl -sS -H 'Cookie: \`touch P\`='"$PETSTORE_API_KEY" ${query}`)
  expect(curlCommand({ ...request, keyQuery: 'e=', key: 'a b' })).toMatch(/ 'http:\/\/a\/b\?c=1&e=''a b'$/)
})

it.each(['GET', 'HEAD', 'POST'])('names the method of a %s with a body, as curl would send a POST', (method) => {
  const command = curlCommand({ method, url: 'http://a/b', headers: [], body: '{}', keyHeaders: [] })
  expect(command).toBe(`curl -sS -X ${method} --data-raw '{}' http://a/b`)
})

it('quotes a key that is not a reference', () => {
  const keyHeaders = [{ name: 'Authorization', prefix: 'Bearer ' }]
  const headers = [['Authorization', '']] as const
  const key = '"$(touch P)"'
  const command = curlCommand({ method: 'GET', url: 'http://a/b', headers, body: undefined, keyHeaders, key })
  expect(command).toBe(`curl -sS -H 'Authorization: Bearer "$(touch P)"' http://a/b`)
})

it('quotes backslashes for fish too, which reads them as escapes in single quotes', () => {
  expect(shellWord("\\';touch P;#")).toBe("''\\\\''\\'';touch P;#'")
})
