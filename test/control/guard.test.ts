import { describe, expect, it } from 'vitest'
import { type GuardRules, guard } from '../../src/control/guard.js'

const OPEN = { token: undefined, origins: ['http://localhost:6006'] }
const LOCKED = { token: 'secret', origins: [] }
const request =
  (host?: string, origin?: string, authorization?: string, fetchSite?: string) =>
  (name: string): string | undefined =>
    ({ host, origin, authorization, 'sec-fetch-site': fetchSite })[name]

const verdict = (asked: ReturnType<typeof request>, rules: GuardRules, opensPage = false) =>
  guard(asked, opensPage, rules) === undefined ? 'pass' : 'refuse'

describe('the control plane on loopback', () => {
  it('passes with the Host of this machine only', () => {
    for (const host of ['127.0.0.1:4010', 'localhost', '[::1]:4010', '127.1.2.3', 'sandbox.localhost:4010'])
      expect(verdict(request(host), OPEN), host).toBe('pass')
    for (const host of [
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '',
      undefined,
      'localhost:4010:x',
    ])
      expect(verdict(request(host), OPEN), host).toBe('refuse')
  })

  it.each([
    [undefined, 'pass'],
    ['http://localhost:4010', 'pass'],
    ['http://localhost:6006', 'pass'],
    ['http://127.0.0.1:4010', 'refuse'],
    ['https://localhost:4010', 'refuse'],
    ['http://evil.example', 'refuse'],
    ['null', 'refuse'],
  ])('with the Origin %s: %s', (origin, kind) => expect(verdict(request('localhost:4010', origin), OPEN)).toBe(kind))
})

describe('the control plane, for a browser without an Origin', () => {
  const asked = (fetchSite: string, opensPage = false) =>
    verdict(request('localhost:4010', undefined, undefined, fetchSite), OPEN, opensPage)

  it('passes from its own pages and from no site', () => {
    for (const site of ['same-origin', 'none']) expect(asked(site)).toBe('pass')
    for (const site of ['cross-site', 'same-site', '', 'same-origin, cross-site']) expect(asked(site)).toBe('refuse')
  })

  it('opens its pages for a link on any site', () => {
    expect([asked('cross-site', true), asked('same-site', true)]).toEqual(['pass', 'pass'])
    expect(verdict(request('evil.example', undefined, undefined, 'cross-site'), OPEN, true)).toBe('refuse')
  })
})

it('the control plane with a token passes only with it, whatever the Host', () => {
  const given = (authorization?: string) => verdict(request('any.example', undefined, authorization), LOCKED)
  expect(['Bearer secret', 'bearer secret'].map(given)).toEqual(['pass', 'pass'])
  for (const wrong of ['Bearer secrets', 'Bearer ', 'secret', undefined]) expect(given(wrong)).toBe('refuse')
})
