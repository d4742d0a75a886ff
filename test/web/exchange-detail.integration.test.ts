import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { REASONS } from '../../src/domain/problems.js'
import { explainExchange } from '../../src/web/dashboard/explain-exchange.js'
import { CODE_FORMS, recordedRequest } from '../../src/web/request-code.js'
import { anExchange } from './exchanges.js'

const SANDBOX = 'http://127.0.0.1:4010'

describe('the explanation of an exchange', () => {
  it('names window, limit, plan and reset of a spent quota', () => {
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-reset': '1772366460', 'retry-after': '42' }
    const exchange = anExchange({ status: 429, reason: 'quota-minute', response: { headers, body: '' } })
    expect(explainExchange(exchange, 'free')).toEqual({
      rule: "The minute's 60 requests of the key sandbox on the plan free are spent. The window resets at 12:01:00 UTC.",
      help: 'Wait for Retry-After (42 s), move the clock by 1 minute, or choose a larger plan or limits.',
    })
  })

  it.each(REASONS)('has a rule and help for the reason %s', (reason) => {
    const { rule, help } = explainExchange(anExchange({ status: 429, reason }), undefined)
    expect(rule).toMatch(/^[A-Z].*\.$/)
    expect(help).toMatch(/^[A-Z].*\.$/)
    expect(rule + help).not.toMatch(/undefined|null|NaN| {2}/)
  })

  it.each([200, 201, 400, 401, 404, 405, 413, 415, 500, null])('has a rule for status %s', (status) => {
    expect(explainExchange(anExchange({ status }), 'free').rule).toMatch(/^[A-Z].*\.$/)
  })
})

describe('an exchange as a curl command', () => {
  /** The arguments that a shell passes to curl. */
  function words(command: string): readonly string[] {
    const script = `curl() { printf '%s\\0' "$@"; }; ${command}`
    const out = execFileSync('sh', ['-c', script], { env: { PETSTORE_API_KEY: 'secret' }, encoding: 'utf8' })
    return out.split('\0').slice(0, -1)
  }

  it('sends the same request with the key from the environment', () => {
    const exchange = anExchange({
      method: 'POST',
      request: {
        headers: {
          authorization: 'Bearer sandbox',
          host: 'x',
          'content-type': 'application/json',
          'content-length': '9',
        },
        body: `{"name":"O'Malley"}`,
      },
    })
    const curl = CODE_FORMS.curl(recordedRequest(exchange, SANDBOX, '/v1', []))
    expect(curl).not.toContain('Bearer sandbox')
    expect(words(curl)).toEqual([
      '-sS',
      '-X',
      'POST',
      '-H',
      'Authorization: Bearer secret',
      '-H',
      'content-type: application/json',
      '--data-raw',
      `{"name":"O'Malley"}`,
      'http://127.0.0.1:4010/v1/pets',
    ])
  })

  it('quotes everything that a client sent', () => {
    const evil = '\'; echo $(id) `id` "$HOME" \\'
    const exchange = anExchange({ query: evil, request: { headers: { 'x-evil': evil }, body: evil } })
    const given = words(CODE_FORMS.curl(recordedRequest(exchange, SANDBOX, '/v1', [])))
    expect(given).toContain(`x-evil: ${evil}`)
    expect(given.filter((word) => word.includes(evil)).length).toBe(3)
  })
})
