import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFile } from '../support/temporary-files.js'
import { ioAt, run, sandboxWith, type TestIo } from './test-io.js'

const SPEC = join(packageDirectory, 'test/contract/specs/keyed.yaml')

/** A process with a home of its own, beside a sandbox. */
function ioBeside(sandbox: Parameters<typeof ioAt>[0]): TestIo {
  const io = ioAt(sandbox, { PATH: process.env.PATH })
  return { ...io, env: { ...io.env, XDG_CONFIG_HOME: io.cwd } }
}

it('a contract with a server is served under the path of the server, or under --base-path, and called there', async () => {
  const sandbox = await sandboxWith({ spec: SPEC })
  const { baseUrl, controlUrl } = sandbox
  expect(baseUrl).toBe(controlUrl.replace('/__sandbox', '/v2'))
  expect(await sandbox.state()).toMatchObject({ basePath: '/v2' })
  expect(await run('call listNotes', ioBeside(sandbox))).toMatchObject({ code: 0, out: '[]\n' })
  expect(await run(`verify --spec ${SPEC}`, ioBeside(sandbox))).toMatchObject({ code: 0 })
  const check = `process.exitCode = new URL(process.env.PETSTORE_BASE_URL).pathname === '/v2' ? 0 : 5`
  const exec = ['exec', '--spec', SPEC, '--', process.execPath, '-e', check]
  expect(await run(exec, ioBeside(sandbox))).toMatchObject({ code: 0 })
  const moved = await sandboxWith({ spec: SPEC, basePath: '/api/v3' })
  expect(new URL(moved.baseUrl).pathname).toBe('/api/v3')
  expect(await run('call listNotes', ioBeside(moved))).toMatchObject({ code: 0, out: '[]\n' })
})

describe('a contract with a key in a header of its own', () => {
  const ask = async ({ baseUrl }: { readonly baseUrl: string }, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${baseUrl}/notes`, { headers })
    return { status: response.status, challenge: response.headers.get('www-authenticate'), text: await response.text() }
  }

  it('accepts the key there only, and names the header in refusals', async () => {
    const sandbox = await sandboxWith({ spec: SPEC })
    expect(await ask(sandbox, { 'X-Acme': 'sandbox~checkout' })).toMatchObject({ status: 200, text: '[]' })
    for (const headers of [{}, { Authorization: 'Bearer sandbox' }]) {
      const { status, challenge, text: body } = await ask(sandbox, headers)
      expect({ status, challenge }).toEqual({ status: 401, challenge: 'ApiKey realm="Keyed"' })
      expect(body).toContain('No API key was sent. Send one as: X-Acme: <API_KEY>.')
    }
    expect((await ask(sandbox, { 'X-Acme': 'other' })).text).toContain('"code":"invalid_api_key"')
    expect(await sandbox.spaces.list()).toMatchObject([{ name: 'checkout' }])
  })

  it('shows the key nowhere if it may be secret', async () => {
    const sandbox = await sandboxWith({ spec: SPEC, apiKey: ['hush-hush-hush'] })
    await ask(sandbox, { 'X-Acme': 'hush-hush-hush' })
    await ask(sandbox, { 'X-Acme': 'a-stranger-key', Authorization: 'Basic YTpzZWNyZXQ=' })
    const curls = [
      (await run('control requests --curl 1', ioBeside(sandbox))).out,
      (await run('call listNotes --curl --key hush-hush-hush', ioBeside(sandbox))).out,
    ]
    for (const curl of curls) expect(curl).toContain('-H "X-Acme: $PETSTORE_API_KEY"')
    const shown = [...curls, await sandbox.requests(), await sandbox.requests.har()]
    expect(JSON.stringify(shown)).not.toMatch(/hush-hush|stranger|YTpz/)
  })

  it('allows the header to web pages, and sends a request again with it', async () => {
    const sandbox = await sandboxWith({ spec: SPEC })
    const preflight = { Origin: 'http://localhost:3000', 'Access-Control-Request-Method': 'GET' }
    const { headers } = await fetch(`${sandbox.baseUrl}/notes`, { method: 'OPTIONS', headers: preflight })
    expect(headers.get('access-control-allow-headers')).toBe('X-Acme, Content-Type, Prefer')
    await ask(sandbox, { 'X-Acme': 'sandbox' })
    const again = { key: 'sandbox', status: 200, request: { headers: { 'x-acme': 'sandbox' } } }
    expect(await sandbox.requests.replay(1)).toMatchObject(again)
  })

  it('is sent the key there by verify and through --upstream', async () => {
    const real = await sandboxWith({ spec: SPEC, apiKey: ['real-real-real'] })
    const file = temporaryFile('real.key', 'real-real-real')
    const front = await sandboxWith({ spec: SPEC, upstream: real.baseUrl, upstreamApiKeyFile: file })
    expect(await ask(front, { 'X-Acme': 'sandbox' })).toMatchObject({ status: 200, text: '[]' })
    const line = `verify --spec ${SPEC} --base-url ${real.baseUrl} --api-key-file ${file}`
    expect(await run(line, ioBeside(front))).toMatchObject({ code: 0, out: expect.stringContaining('0 drifted') })
  })
})
