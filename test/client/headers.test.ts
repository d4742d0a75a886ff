import { describe, expect, it } from 'vitest'
import { toCurl, toHttpText } from '../../src/client/build-request.js'
import { masked, readHeader, requestHeaders } from '../../src/client/headers.js'
import { BEARER } from '../../src/contract/contract-data.js'

describe('a header from the command line', () => {
  it.each([
    ['X-A: b', ['X-A', 'b']],
    ['x-a:b:c', ['x-a', 'b:c']],
    ['X-Empty:', ['X-Empty', '']],
  ])('is read: %j', (text, header) => expect(readHeader(text)).toEqual(header))

  it.each(['X-A', ': b', 'X A: b', 'X-A: b\r\nX-B: c', 'X-A: \u20ac'])('is refused: %j', (text) =>
    expect(readHeader(text)).toBeUndefined(),
  )
})

describe('the headers of a request', () => {
  it('are the defaults, replaced by given ones', () => {
    const given = [['accept', 'text/html']] as const
    const key = ['Authorization', 'Bearer k'] as const
    const type = ['Content-Type', 'application/json']
    expect(requestHeaders({ keys: [key], contentType: 'application/json', given })).toEqual([key, type, ...given])
  })

  it('never show a secret or its length', () => {
    const secrets = 'Authorization Proxy-Authorization Cookie Set-Cookie X-Api-Key X-Auth-Token'.split(' ')
    for (const name of secrets) {
      const shown = JSON.stringify(masked([[name, 'Bearer hush']], [BEARER]))
      expect(shown).not.toContain('hush')
      expect(shown).toContain('***')
    }
  })

  it('name the variable of the key in a command to repeat', () => {
    const keys = [['Authorization', 'Bearer hush']] as const
    const headers = requestHeaders({ keys, contentType: 'application/json', given: [['X-Empty', '']] })
    const request = { method: 'POST', url: 'http://[::1]:1/v1/pets', headers, body: Buffer.from('{}') }
    expect(toCurl(request, [BEARER])).toBe(
      `curl -sS -g -X POST -H 'Accept: application/json' -H "Authorization: Bearer $PETSTORE_API_KEY" -H 'Content-Type: application/json' -H 'X-Empty;' --data-raw '{}' 'http://[::1]:1/v1/pets'`,
    )
    expect(toHttpText(request, [BEARER])).toContain('Authorization: Bearer $PETSTORE_API_KEY\n')
  })

  it('hide secrets in the address', () => {
    const request = { method: 'GET', url: 'https://a.example/pets?api_key=hush&limit=1', headers: [], body: undefined }
    for (const shown of [toCurl(request, [BEARER]), toHttpText(request, [BEARER])]) {
      expect(shown).toContain('?api_key=***&limit=1')
      expect(shown).not.toContain('hush')
    }
  })
})
