import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { type SpawnedServe, spawnServe } from '../support/spawned-serve.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { runBuilt } from './built.js'

const SPEC = join(packageDirectory, 'test/contract/specs/keyed.yaml')

const run = (cwd: string, ...argv: readonly string[]) => runBuilt(argv, { cwd, env: { XDG_CONFIG_HOME: cwd } })

async function serving(...flags: readonly string[]): Promise<SpawnedServe & { readonly cwd: string }> {
  const cwd = temporaryFolder()
  const served = await spawnServe(cwd, '--in-memory', '--spec', SPEC, ...flags)
  onTestFinished(() => void served.end('SIGTERM'))
  return { ...served, cwd }
}

describe('a contract with a server', () => {
  it('is served under the path of the server, or under --base-path, and called there', async () => {
    const { baseUrl, controlUrl, cwd } = await serving()
    expect(baseUrl).toBe(controlUrl.replace('/__sandbox', '/v2'))
    const state = await (await fetch(`${controlUrl}/state`)).json()
    expect(state).toMatchObject({ basePath: '/v2' })
    expect(await run(cwd, 'call', 'listNotes')).toMatchObject({ code: 0, out: '[]' })
    expect(await run(cwd, 'verify', '--spec', SPEC)).toMatchObject({ code: 0 })
    const env = 'process.stdout.write(new URL(process.env.PETSTORE_BASE_URL).pathname)'
    expect((await run(cwd, 'exec', '--spec', SPEC, '--', process.execPath, '-e', env)).out).toBe('/v2')
    const moved = await serving('--base-path', '/api/v3')
    expect(new URL(moved.baseUrl).pathname).toBe('/api/v3')
    expect(await run(moved.cwd, 'call', 'listNotes')).toMatchObject({ code: 0, out: '[]' })
  })
})

describe('a contract with a key in a header of its own', () => {
  const ask = async ({ baseUrl }: SpawnedServe, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${baseUrl}/notes`, { headers })
    return { status: response.status, challenge: response.headers.get('www-authenticate'), text: await response.text() }
  }

  it('accepts the key there only, and names the header in refusals', async () => {
    const served = await serving()
    expect(await ask(served, { 'X-Acme': 'sandbox~checkout' })).toMatchObject({ status: 200, text: '[]' })
    for (const headers of [{}, { Authorization: 'Bearer sandbox' }]) {
      const { status, challenge, text: body } = await ask(served, headers)
      expect({ status, challenge }).toEqual({ status: 401, challenge: 'ApiKey realm="petstore"' })
      expect(body).toContain('No API key was sent. Send one as: X-Acme: <API_KEY>.')
    }
    expect((await ask(served, { 'X-Acme': 'other' })).text).toContain('"code":"invalid_api_key"')
    const spaces = await fetch(`${served.controlUrl}/spaces`)
    expect(await spaces.json()).toMatchObject([{ name: 'checkout' }])
  })

  it('shows the key nowhere if it may be secret', async () => {
    const served = await serving('--api-key', 'hush-hush-hush:pro')
    await ask(served, { 'X-Acme': 'hush-hush-hush' })
    await ask(served, { 'X-Acme': 'a-stranger-key', Authorization: 'Basic YTpzZWNyZXQ=' })
    const shown = await Promise.all([
      (await fetch(`${served.controlUrl}/requests`)).text(),
      (await fetch(`${served.controlUrl}/requests/har`)).text(),
      (await run(served.cwd, 'control', 'requests', '--curl', '1')).out,
      (await run(served.cwd, 'call', 'listNotes', '--curl', '--key', 'hush-hush-hush')).out,
    ])
    for (const one of [...shown, ...served.lines]) expect(one).not.toMatch(/hush-hush|stranger|YTpz/)
    expect(shown[2]).toContain('-H "X-Acme: $PETSTORE_API_KEY"')
    expect(shown[3]).toContain('-H "X-Acme: $PETSTORE_API_KEY"')
  })

  it('allows the header to web pages, and sends a request again with it', async () => {
    const served = await serving()
    const { controlUrl, baseUrl } = served
    const preflight = { Origin: 'http://localhost:3000', 'Access-Control-Request-Method': 'GET' }
    const { headers } = await fetch(`${baseUrl}/notes`, { method: 'OPTIONS', headers: preflight })
    expect(headers.get('access-control-allow-headers')).toBe('X-Acme, Content-Type, Prefer')
    await ask(served, { 'X-Acme': 'sandbox' })
    const again = await (await fetch(`${controlUrl}/requests/1/replay`, { method: 'POST', body: '{}' })).json()
    expect(again).toMatchObject({ key: 'sandbox', status: 200, request: { headers: { 'x-acme': 'sandbox' } } })
  })

  it('is sent the key there by verify and through --upstream', async () => {
    const real = await serving('--api-key', 'real-real-real:pro')
    const file = join(real.cwd, 'real.key')
    writeFileSync(file, 'real-real-real')
    const front = await serving('--upstream', real.baseUrl, '--upstream-api-key-file', file)
    expect(await ask(front, { 'X-Acme': 'sandbox' })).toMatchObject({ status: 200, text: '[]' })
    const verified = await run(front.cwd, 'verify', '--spec', SPEC, '--base-url', real.baseUrl, '--api-key-file', file)
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('0 drifted') })
  })
})
