import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'

/** Set by browsers; pages cannot change it. */
type Metadata = Readonly<Record<`sec-fetch-${'site' | 'mode' | 'dest'}` | 'origin', string>>

const LINK = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const FRAME = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }

describe('a page of another site', () => {
  const ask = async (path: string, metadata: Partial<Metadata>, method = 'GET') => {
    await using sandbox = await createSandbox({ controlOrigin: 'http://localhost:6006' })
    const url = sandbox.controlUrl + path
    const { status } = await sandbox.fetch(url, { method, headers: metadata, redirect: 'manual' })
    return { status, spaces: await sandbox.spaces.list() }
  }

  it.each([
    ['GET', '/state?space=1', LINK],
    ['GET', '/', FRAME],
    ['GET', '/assets/dashboard.js', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
    ['POST', '/', LINK],
  ])('cannot %s %s (%o)', async (method, path, metadata) => {
    const asked = await ask(path, { 'sec-fetch-site': 'cross-site', ...metadata }, method)
    expect(asked).toEqual({ status: 403, spaces: [] })
  })

  it.each([
    ['/', 200],
    ['/docs?space=checkout', 200],
    ['', 308],
  ])('may link to the page %s', async (path, status) => {
    expect((await ask(path, { 'sec-fetch-site': 'cross-site', ...LINK })).status).toBe(status)
  })

  it('may use the control plane if its origin is allowed', async () => {
    const metadata = { origin: 'http://localhost:6006', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }
    expect((await ask('/state', metadata)).status).toBe(200)
  })
})
