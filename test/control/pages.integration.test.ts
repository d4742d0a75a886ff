import { describe, expect, it } from 'vitest'
import { PAGE_FILES } from '../../src/control/pages.js'
import { startSandbox } from '../../src/index.js'

describe('the pages', () => {
  it.each(Object.keys(PAGE_FILES))('serves %s with the right headers', async (path) => {
    await using sandbox = await startSandbox()
    const response = await fetch(sandbox.controlUrl + path)
    expect(response.status).toBe(200)
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect((await response.text()).length).toBeGreaterThan(0)
  })

  it.each(['/', '/docs'])('lets %s load from its own server only', async (path) => {
    await using sandbox = await startSandbox()
    const policy = (await fetch(sandbox.controlUrl + path)).headers.get('Content-Security-Policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  it('redirects browsers at the bare address, but no other client', async () => {
    await using sandbox = await startSandbox()
    const root = new URL('/', sandbox.baseUrl)
    const context = (accept: string) => fetch(root, { redirect: 'manual', headers: { Accept: accept } })
    const browser = await context('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([browser.status, browser.headers.get('Location')]).toEqual([302, '/__sandbox/'])
    expect((await context('*/*')).status).toBe(404)
    expect((await sandbox.requests()).length).toBe(1)
  })

  it('are served without the control token, which they prompt for', async () => {
    await using sandbox = await startSandbox({ controlToken: 'secret' })
    expect((await fetch(`${sandbox.controlUrl}/`)).status).toBe(200)
    expect((await fetch(`${sandbox.controlUrl}/assets/dashboard.js`)).status).toBe(200)
    expect((await fetch(`${sandbox.controlUrl}/openapi.json`)).status).toBe(401)
    expect((await fetch(`${sandbox.controlUrl}/state`)).status).toBe(401)
  })
})
