import { describe, expect, it } from 'vitest'
import { childEnvironment } from '../../../src/cli/exec/flags.js'

const ORIGIN = 'http://127.0.0.1:1234'
const SANDBOX = { baseUrl: `${ORIGIN}/v1`, controlUrl: `${ORIGIN}/__sandbox`, controlToken: undefined }

describe('the environment of a command', () => {
  it.each([
    [{}, 'localhost,127.0.0.1,::1', 'localhost,127.0.0.1,::1'],
    [{ NO_PROXY: 'a.example' }, 'a.example,localhost,127.0.0.1,::1', 'a.example,localhost,127.0.0.1,::1'],
    [{ no_proxy: 'a, 127.0.0.1' }, 'a,127.0.0.1,localhost,::1', 'a,127.0.0.1,localhost,::1'],
    [{ NO_PROXY: 'a', no_proxy: 'b' }, 'a,localhost,127.0.0.1,::1', 'b,localhost,127.0.0.1,::1'],
    [{ NO_PROXY: '', no_proxy: 'b' }, 'b,localhost,127.0.0.1,::1', 'b,localhost,127.0.0.1,::1'],
    [{ NO_PROXY: '*' }, '*', '*'],
  ])('adds loopback to %j', (env, upper, lower) => {
    expect(childEnvironment(env, SANDBOX)).toMatchObject({ NO_PROXY: upper, no_proxy: lower })
  })

  it('adds the address of a sandbox that is elsewhere', () => {
    const there = { ...SANDBOX, baseUrl: 'http://[fe80::1]:1234/v1' }
    expect(childEnvironment({}, there).NO_PROXY).toBe('localhost,127.0.0.1,::1,fe80::1')
  })

  it('replaces a real key and another sandbox only', () => {
    const env = { HOME: '/home/me', PETSTORE_API_KEY: 'real', PETSTORE_SANDBOX_CONTROL_TOKEN: 'of another' }
    const own = { HOME: '/home/me', PETSTORE_API_KEY: 'sandbox', PETSTORE_SANDBOX_CONTROL_TOKEN: 'own' }
    expect(childEnvironment(env, { ...SANDBOX, controlToken: 'own' })).toMatchObject(own)
  })

  it('has the sandbox under the names that --env gives it', () => {
    const written = { VITE_API_URL: '{baseUrl}', AUTH: 'Bearer {apiKey}', PETSTORE_BASE_URL: '{controlUrl}/x{}' }
    const names = Object.entries(written).map(([name, value]) => ({ name, value }))
    const { baseUrl, controlUrl } = SANDBOX
    const named = { VITE_API_URL: baseUrl, AUTH: 'Bearer sandbox', PETSTORE_BASE_URL: `${controlUrl}/x{}` }
    expect(childEnvironment({ VITE_API_URL: 'old' }, { ...SANDBOX, names })).toMatchObject(named)
  })
})
