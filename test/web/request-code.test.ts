import { describe, expect, it } from 'vitest'
import { BEARER } from '../../src/contract/contract-data.js'
import { LOG_BODY_CHARACTERS } from '../../src/exchanges/exchange-record.js'
import { recordedRequest } from '../../src/web/dashboard/recorded-request.js'
import { type CodeRequest, codeForms, vitestCode } from '../../src/web/request-code.js'
import { anExchange } from './exchanges.js'

// biome-ignore lint/suspicious/noTemplateCurlyInString: a client may send it
const QUERY = '?q=`&x=${leak()}'

const REQUEST: CodeRequest = {
  method: 'GET',
  url: `http://127.0.0.1:4010/v1/pets/O'Neil${QUERY}`,
  headers: [],
  key: 'sandbox',
  keyHeader: BEARER,
  body: undefined,
}

describe('a request as a failing Vitest test', () => {
  it('sends what the client chose as text, and runs none of it', async () => {
    const code = vitestCode(REQUEST, '/v1', undefined, false).replaceAll(/^import .*$/gm, '')
    const tests: [string, (fixtures: object) => Promise<void>][] = []
    const sent: string[] = []
    new Function('test', 'fetch', 'expect', code)(
      (title: string, run: (fixtures: object) => Promise<void>) => tests.push([title, run]),
      async (url: string) => {
        sent.push(url)
        return { status: 200 }
      },
      expect,
    )
    expect(tests[0]?.[0]).toBe("GET /v1/pets/O'Neil succeeds")
    await tests[0]?.[1]({ sandbox: { baseUrl: 'http://localhost/v1', key: () => 'sandbox' } })
    expect(sent).toEqual([`http://localhost/v1/pets/O'Neil${QUERY}`])
  })
})

describe('code for a request whose body the log does not have as it was sent', () => {
  it.each([
    ['too long', 'x'.repeat(LOG_BODY_CHARACTERS), true],
    ['no text', 'PNG \uFFFD\uFFFD', true],
    ['whole', 'x', false],
  ])('says so: %s', (_what, body, isPartial) => {
    const exchange = anExchange({ method: 'POST', request: { headers: {}, body } })
    const request = recordedRequest(exchange, 'http://127.0.0.1:4010', { keyHeader: BEARER, keys: [] })
    const { curl, fetch } = codeForms(request)
    const note = 'The log does not have this body as it was sent.\n'
    expect([curl().startsWith(`# ${note}curl`), fetch().includes(`// ${note}`)]).toEqual([isPartial, isPartial])
  })
})
