import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { BEARER } from '../../src/contract/contract-data.js'
import { REASONS } from '../../src/domain/problems.js'
import { explainExchange } from '../../src/web/dashboard/explain-exchange.js'
import { recordedRequest } from '../../src/web/dashboard/recorded-request.js'
import { CODE_FORMS } from '../../src/web/request-code.js'
import { anExchange } from './exchanges.js'

const SANDBOX = 'http://127.0.0.1:4010'

describe('the explanation of an exchange', () => {
  it('names window, limit, plan and reset of a spent quota', () => {
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-reset': '1772366460', 'retry-after': '42' }
    const exchange = anExchange({ status: 429, reason: 'quota-minute', response: { headers, body: '' } })
    expect(explainExchange(exchange, { plan: 'free' })).toEqual({
      cause: '60/min quota used up',
      rule: "The minute's 60 requests of the key sandbox on the plan free are used up. The window resets at 12:01:00 UTC.",
      help: 'Wait for Retry-After (42 s), move the clock by 1 minute, or choose a larger plan or limits.',
    })
  })

  it.each(REASONS)('has a rule and help for the reason %s', (reason) => {
    const { rule, help } = explainExchange(anExchange({ status: 429, reason }))
    expect(rule).toMatch(/^[A-Z].*\.$/)
    expect(help).toMatch(/^[A-Z].*\.$/)
    expect(rule + help).not.toMatch(/undefined|null|NaN| {2}/)
  })

  it.each([200, 201, 400, 401, 404, 405, 413, 415, 500, null])('has a rule for status %s', (status) => {
    expect(explainExchange(anExchange({ status })).rule).toMatch(/^[A-Z].*\.$/)
  })
})

describe('the cause of a response', () => {
  const until = 'ban sandbox until 2026-03-01T12:05:00.000Z'
  const event = { at: '2026-03-01T11:59:59.000Z', afterId: 0 }
  const headers = { 'retry-after': '300' }
  const banned = anExchange({ status: 429, reason: 'ban', response: { headers, body: '' } })
  const body = '{"code":"invalid_request","message":"createPet: name is required.","status":400}'

  it.each([
    [
      'the ban that requests caused',
      banned,
      { events: [{ ...event, verb: 'ban', text: `${until}: 10 early requests` }] },
      'banned until 12:05:00',
      /until 12:05:00 UTC\. It sent 10 requests before Retry-After/,
    ],
    [
      'a manual ban',
      banned,
      { events: [{ ...event, verb: 'keys.ban', text: until }] },
      'banned until 12:05:00',
      /It was banned manually\.$/,
    ],
    ['a key that is always banned', banned, { always: 'banned' }, 'always banned', /is always banned/],
    [
      'a key that is always out of quota',
      anExchange({ status: 429, reason: 'quota-minute' }),
      { always: 'limited' },
      'minute quota used up',
      /always used up/,
    ],
    [
      'the fault rule',
      anExchange({ status: 503, reason: 'fault', rule: 'getPet:503@25%' }),
      {},
      'fault getPet:503@25%',
      /The fault rule getPet:503@25% broke this response, status 503/,
    ],
    [
      'a body that was cut off',
      anExchange({ reason: 'fault', fault: 'truncated-body', rule: 'a', ended: 'cut' }),
      {},
      'fault a',
      /The client got 200 and a part of its body after 1\.0 ms/,
    ],
    [
      'the message of a 400',
      anExchange({ status: 400, operation: 'createPet', response: { headers: {}, body } }),
      {},
      'name is required',
      /^Name is required\.$/,
    ],
    ['no key', anExchange({ status: 401, key: 'none' }), {}, 'no API key', /has no API key/],
    ['an unknown key', anExchange({ status: 401, key: 'unknown' }), {}, 'unknown key', /does not know/],
    [
      'a revoked key',
      anExchange({ status: 401, key: 'sandbox-revoked' }),
      { always: 'revoked' },
      'revoked key',
      /is revoked/,
    ],
    [
      'latency',
      anExchange({ status: null, ended: null }),
      { latency: '100ms,listPets=3s' },
      'waiting: latency 3s',
      /Waiting: latency 3s\. No response yet/,
    ],
  ] as const)('is %s', (_what, exchange, facts, cause, rule) => {
    const explained = explainExchange(exchange, facts)
    expect(explained.cause).toBe(cause)
    expect(explained.rule).toMatch(rule)
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
    const curl = CODE_FORMS.curl(recordedRequest(exchange, SANDBOX, { basePath: '/v1', keyHeader: BEARER }, []))
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
    const given = words(CODE_FORMS.curl(recordedRequest(exchange, SANDBOX, { basePath: '/v1', keyHeader: BEARER }, [])))
    expect(given).toContain(`x-evil: ${evil}`)
    expect(given.filter((word) => word.includes(evil)).length).toBe(3)
  })
})
