import { describe, expect, it } from 'vitest'
import { guard } from '../../src/control/guard.js'

const OPEN = { token: undefined, origins: ['http://localhost:6006'] }
const LOCKED = { token: 'secret', origins: [] }
const request = (host?: string, origin?: string, authorization?: string, fetchSite?: string, opensPage = false) => ({
  host,
  origin,
  authorization,
  fetchSite,
  opensPage,
})

describe('the control plane on loopback', () => {
  it.each(['127.0.0.1:4010', 'localhost', 'localhost:4010', '[::1]:4010', '127.1.2.3', 'sandbox.localhost:4010'])(
    'answers to the Host %s',
    (host) => {
      expect(guard(request(host), OPEN).kind).toBe('pass')
    },
  )

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '',
    undefined,
    'localhost:4010:x',
  ])('refuses the Host %s', (host) => {
    expect(guard(request(host), OPEN)).toMatchObject({ kind: 'refuse', status: 403 })
  })

  it.each([
    [undefined, 'pass'],
    ['http://localhost:4010', 'pass'],
    ['http://localhost:6006', 'pass'],
    ['http://127.0.0.1:4010', 'refuse'],
    ['https://localhost:4010', 'refuse'],
    ['http://evil.example', 'refuse'],
    ['null', 'refuse'],
  ])('with the Origin %s: %s', (origin, kind) => {
    expect(guard(request('localhost:4010', origin), OPEN).kind).toBe(kind)
  })
})

describe('the control plane, asked by a browser without an Origin', () => {
  const asked = (fetchSite: string, opensPage = false) =>
    guard(request('localhost:4010', undefined, undefined, fetchSite, opensPage), OPEN).kind

  it.each([
    ['same-origin', 'pass'],
    ['none', 'pass'],
    ['cross-site', 'refuse'],
    ['same-site', 'refuse'],
    ['', 'refuse'],
    ['same-origin, cross-site', 'refuse'],
  ])('from %s: %s', (fetchSite, kind) => {
    expect(asked(fetchSite)).toBe(kind)
  })

  it('opens its pages for a link on any site', () => {
    expect([asked('cross-site', true), asked('same-site', true)]).toEqual(['pass', 'pass'])
    expect(guard(request('evil.example', undefined, undefined, 'cross-site', true), OPEN).kind).toBe('refuse')
  })
})

describe('the control plane with a token', () => {
  it.each([
    ['Bearer secret', 'pass'],
    ['bearer secret', 'pass'],
    ['Bearer secrets', 'refuse'],
    ['Bearer ', 'refuse'],
    ['secret', 'refuse'],
    [undefined, 'refuse'],
  ])('given %s: %s', (authorization, kind) => {
    expect(guard(request('any.example', undefined, authorization), LOCKED).kind).toBe(kind)
  })
})
