import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'

/** Set by browsers; pages cannot change it. */
type Metadata = Readonly<Record<`sec-fetch-${'site' | 'mode' | 'dest'}` | 'origin', string>>

const IMAGE = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
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
    ['/state?space=1', { 'sec-fetch-site': 'cross-site', ...IMAGE }],
    ['/state?space=1', { 'sec-fetch-site': 'same-site', ...IMAGE }],
    ['/conduct', { 'sec-fetch-site': 'cross-site', ...LINK }],
    ['/requests/stream', { 'sec-fetch-site': 'cross-site', ...IMAGE }],
    ['/', { 'sec-fetch-site': 'cross-site', ...FRAME }],
    [
      '/assets/dashboard.js',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
    ],
  ])('cannot GET %s (%o)', async (path, metadata) => {
    expect(await ask(path, metadata)).toEqual({ status: 403, spaces: [] })
  })

  it('cannot post a form to it', async () => {
    expect((await ask('/reset', { 'sec-fetch-site': 'cross-site', ...LINK }, 'POST')).status).toBe(403)
    expect((await ask('/', { 'sec-fetch-site': 'cross-site', ...LINK }, 'POST')).status).toBe(403)
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

describe('a client that is not a page of another site', () => {
  it.each([
    ['the dashboard', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a typed address', { 'sec-fetch-site': 'none', ...LINK }],
    ['fetch of Node', { 'sec-fetch-mode': 'cors' }],
    ['curl', {}],
  ])('reads the state: %s', async (_who, headers) => {
    await using sandbox = await createSandbox()
    expect((await sandbox.fetch(`${sandbox.controlUrl}/state`, { headers })).status).toBe(200)
  })
})
