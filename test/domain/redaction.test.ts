import { describe, expect, it } from 'vitest'
import { BEARER } from '../../src/contract/contract-data.js'
import { isSecretName, redactAddress, redactHeader, redactQuery } from '../../src/domain/redaction.js'

const words = (text: string) => text.trim().split(/\s+/)

describe('a name', () => {
  it.each(
    words(`
    Authorization proxy-authorization Cookie set-cookie api-key apikey apiKey API_KEY x-goog-api-key
    x-auth-token x-auth access_token refreshToken Ocp-Apim-Subscription-Key client_secret password pwd key x-key sig
    X-Amz-Signature JSESSIONID auth[token]
  `),
  )('%s is the name of a secret', (name) => expect(isSecretName(name)).toBe(true))

  it.each(
    words(`
    Accept Host User-Agent Idempotency-Key Sec-WebSocket-Key WWW-Authenticate X-RateLimit-Limit traceparent
    X-Request-Id limit status pageToken next_token max_tokens author keyword design
  `),
  )('%s is not the name of a secret', (name) => expect(isSecretName(name)).toBe(false))
})

describe('a query', () => {
  it.each([
    ['limit=5&status=available', 'limit=5&status=available'],
    ['access_token=abc&limit=5', 'access_token=***&limit=5'],
    ['limit=5&api_key=abc', 'limit=5&api_key=***'],
    ['a=1;key=abc', 'a=1;key=***'],
    ['api%5Fkey=abc', 'api%5Fkey=***'],
    ['%61pikey=abc=def', '%61pikey=***'],
    ['sig=', 'sig=***'],
    ['%zz=1&token=x', '%zz=1&token=***'],
    ['sk_live', 'sk_live'],
    ['', ''],
  ])('"%s" is shown as "%s"', (query, shown) => expect(redactQuery(query)).toBe(shown))

  it('reads any length in one pass', () => {
    const long = 'a'.repeat(1_000_000)
    expect(redactQuery(`${long}%&token=${long}`)).toBe(`${long}%&token=***`)
  })
})

it.each([
  ['/v1/pets?token=abc', '/v1/pets?token=***'],
  ['https://ann:sesame@shop.example/?a=1', 'https://***@shop.example/?a=1'],
  ['https://shop.example/#access_token=abc&state=1', 'https://shop.example/#access_token=***&state=1'],
  ['/v1/pets;jsessionid=abc', '/v1/pets;jsessionid=***'],
  ['https://shop.example/a@b', 'https://shop.example/a@b'],
])('the address %s is shown as %s', (address, shown) => expect(redactAddress(address)).toBe(shown))

it('a header shows a key by label, masked, or as it is', () => {
  expect(redactHeader('AUTHORIZATION', 'Basic abc', [BEARER], 'unknown')).toBe('Bearer unknown')
  expect(redactHeader('X-Acme', 'abc', [{ name: 'x-acme', prefix: '' }], 'unknown')).toBe('unknown')
  expect(redactHeader('X-Auth-Token', 'abc')).toBe('***')
  const referer = 'https://shop.example/?access_token='
  expect(redactHeader('Referer', `${referer}abc`)).toBe(`${referer}***`)
  expect(redactHeader('From', 'ann@shop.example')).toBe('ann@shop.example')
})
