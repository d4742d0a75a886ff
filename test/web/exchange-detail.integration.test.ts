import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { PROBLEM_FIXES, REASON_FIXES } from '../../src/advice/fixes.js'
import { BEARER } from '../../src/contract/contract-data.js'
import { REASONS } from '../../src/domain/problems.js'
import type { Exchange } from '../../src/exchanges/exchange-record.js'
import { explainExchange } from '../../src/web/dashboard/explain-exchange.js'
import { recordedRequest } from '../../src/web/dashboard/recorded-request.js'
import { curlCode } from '../../src/web/request-code.js'
import { anExchange } from './exchanges.js'

describe('the explanation of an exchange', () => {
  it('names window, limit, plan and reset of a spent quota', () => {
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-reset': '1772366460', 'retry-after': '42' }
    const exchange = anExchange({ status: 429, reason: 'quota-minute', response: { headers, body: '' } })
    expect(explainExchange(exchange, { plan: 'free' })).toEqual({
      cause: '60/min quota used up',
      rule: 'The quota of the key sandbox on the plan free, 60 requests a minute, is used up. The window resets at 12:01:00 UTC.',
      help: REASON_FIXES['quota-minute'].fix,
    })
  })

  it.each(REASONS)('has a rule and help for the reason %s', (reason) => {
    const { rule, help } = explainExchange(anExchange({ status: 429, reason }))
    expect(rule).toMatch(/^[A-Z].*\.$/)
    expect(help).toMatch(/^[A-Z].*\.$/)
    expect(rule + help).not.toMatch(/undefined|null|NaN| {2}/)
  })

  it('says which record a lost response had created', () => {
    const lost = /^The record was stored as 69, but its response never arrived\. A retry creates a second one/
    const help = (facts: Partial<Exchange>) => explainExchange(anExchange({ created: '69', ...facts })).help
    expect(help({ status: 503, reason: 'fault', rule: 'createPet:503*1,after' })).toMatch(lost)
    expect(help({ status: null, ended: 'left' })).toMatch(lost)
    expect(help({ status: 201 })).toBeUndefined()
  })

  it('has the advice for a request of a client, not that for one that `call` did not send', () => {
    const body = '{"code":"invalid_request","message":"createPet: categoryId is required.","status":400}'
    const exchange = anExchange({ status: 400, operation: 'createPet', response: { headers: {}, body } })
    expect(explainExchange(exchange).help).toBe(PROBLEM_FIXES.invalid_request.fix.replaceAll('`', ''))
  })

  it.each([200, 400, 401, 404, 405, 413, 415, 500, null])('has a rule for status %s', (status) =>
    expect(explainExchange(anExchange({ status })).rule).toMatch(/^[A-Z].*\.$/),
  )
})

describe('the cause of a response', () => {
  const end = Date.parse('2026-03-01T12:05:00.000Z')
  const ban = { key: 'sandbox', afterId: 0, at: end - 300_000, until: end, isLifted: false }
  const byRequests = { bans: [{ ...ban, early: 10 }] }
  const byHand = { bans: [{ ...ban, early: undefined }] }
  const lifted = { bans: [{ ...ban, early: 10, isLifted: true }] }
  const banned = { status: 429, reason: 'ban', response: { headers: { 'retry-after': '300' }, body: '' } } as const
  const broken = { reason: 'fault', fault: 'truncated-body', rule: 'a', ended: 'cut' } as const
  const body = '{"code":"invalid_request","message":"createPet: name is required.","status":400}'
  const invalid = { status: 400, operation: 'createPet', response: { headers: {}, body } }
  const early = /until 12:05:00 UTC\. It sent 10 requests before Retry-After/
  const slow = { latency: '100ms,listPets=3s' }

  it.each<[cause: string, Partial<Exchange>, facts: Parameters<typeof explainExchange>[1], rule: RegExp]>([
    ['banned until 12:05:00', banned, byRequests, early],
    ['banned until 12:05:00', banned, byHand, /It was banned manually\.$/],
    ['banned, lifted since', banned, lifted, /The key sandbox was banned\. .* The ban has been lifted\.$/],
    ['banned until 12:05:00', banned, { ...byHand, now: end }, /^The key sandbox was banned until 12:05:00/],
    ['always banned', banned, { always: 'banned' }, /is always banned/],
    ['minute quota used up', { status: 429, reason: 'quota-minute' }, { always: 'limited' }, /always used up/],
    [
      'fault a@25%',
      { status: 503, reason: 'fault', rule: 'a@25%' },
      {},
      /fault rule a@25% broke this response, status 503/,
    ],
    ['fault a', broken, {}, /The client got 200 and a part of its body after 1 ms/],
    ['name is required', invalid, {}, /^name is required\.$/],
    ['no API key', { status: 401, key: 'none' }, {}, /has no API key/],
    ['unknown key', { status: 401, key: 'unknown' }, {}, /does not know/],
    ['revoked key', { status: 401, key: 'sandbox-revoked' }, { always: 'revoked' }, /is revoked/],
    ['waiting: latency 3s', { status: null, ended: null }, slow, /Waiting: latency 3s\. No response yet/],
  ])('is %s', (cause, exchange, facts, rule) =>
    expect(explainExchange(anExchange(exchange), facts)).toMatchObject({ cause, rule: expect.stringMatching(rule) }),
  )
})

describe('an exchange as a curl command', () => {
  const curlOf = (exchange: Exchange) =>
    curlCode(recordedRequest(exchange, 'http://127.0.0.1:4010', { keyHeader: BEARER, keys: [] }))

  /** The arguments that a shell passes to curl. */
  function words(command: string): readonly string[] {
    const script = `curl() { printf '%s\\0' "$@"; }; ${command}`
    const out = execFileSync('sh', ['-c', script], { env: { PETSTORE_API_KEY: 'secret' }, encoding: 'utf8' })
    return out.split('\0').slice(0, -1)
  }

  it('sends the same request with the key from the environment', () => {
    const headers = { host: 'x', 'content-type': 'application/json', 'content-length': '9' }
    const request = { headers: { authorization: 'Bearer sandbox', ...headers }, body: `{"name":"O'Malley"}` }
    const curl = curlOf(anExchange({ method: 'POST', request }))
    expect(curl).not.toContain('Bearer sandbox')
    expect(words(curl)).toEqual([
      ...['-sS', '-X', 'POST', '-H', 'Authorization: Bearer secret', '-H', 'content-type: application/json'],
      ...['--data-raw', `{"name":"O'Malley"}`, 'http://127.0.0.1:4010/v1/pets'],
    ])
  })

  it('quotes everything that a client sent', () => {
    const evil = '\'; echo $(id) `id` "$HOME" \\'
    const given = words(curlOf(anExchange({ query: evil, request: { headers: { 'x-evil': evil }, body: evil } })))
    expect(given).toContain(`x-evil: ${evil}`)
    expect(given.filter((word) => word.includes(evil)).length).toBe(3)
  })
})
