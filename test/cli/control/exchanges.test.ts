import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Sandbox } from '../../../src/api/controls.js'
import { startSandbox } from '../../../src/api/start.js'
import { runCli } from '../../../src/cli/run-cli.js'
import type { SandboxOptions } from '../../../src/options/options.js'
import { type TestIo, testIo } from '../test-io.js'

async function sandboxWith(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed: 1, now: '2026-03-01T10:00:00Z', freeze: true, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function control(sandbox: Sandbox, argv: readonly string[], env: TestIo['env'] = {}) {
  const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl, ...env } })
  const code = await runCli(['control', ...argv], io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

async function ask({ baseUrl }: Sandbox, target: string, key: string, init: RequestInit = {}) {
  return await fetch(`${baseUrl}${target}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${key}` },
  })
}

describe('control requests', () => {
  it('lists a class of statuses, and the newest of it', async () => {
    const sandbox = await sandboxWith()
    for (const target of ['/pets', '/pets?limit=0', '/pets/7777777', '/pets', '/nowhere'])
      await ask(sandbox, target, 'sandbox')
    const statuses = async (...argv: string[]) =>
      JSON.parse((await control(sandbox, ['requests', '-o', 'json', ...argv])).out).map(
        ({ status }: { status: number }) => status,
      )
    expect(await statuses('--status', '4xx')).toEqual([400, 404, 404])
    expect(await statuses('--status', '4XX', '--limit', '1')).toEqual([404])
    expect(await statuses('--status', '200', '--limit', '1')).toEqual([200])
    expect((await control(sandbox, ['requests', '--status', '4x'])).err).toBe(
      "USAGE: option '--status <status>' argument '4x' is invalid: must be a status, for example 429 or 4xx. See petstore-sandbox control requests list --help.\n",
    )
  })

  it('shows all of one exchange', async () => {
    const sandbox = await sandboxWith()
    await ask(sandbox, '/pets', 'sandbox-pro', {
      method: 'POST',
      body: '{"name":"Rex","categoryId":9223372036854775807}',
      headers: { 'content-type': 'application/json' },
    })
    const { code, out } = await control(sandbox, ['requests', 'show', '1'])
    expect(code).toBe(0)
    for (const part of [
      /^exchange {3}1\nat {9}2026-03-01T10:00:00.000Z\nkey {8}sandbox-pro\noperation {2}createPet\n/,
      /\n\nPOST \/v1\/pets\n/,
      /\ncontent-type: application\/json\n/,
      /\n\n\{\n {2}"name": "Rex",\n {2}"categoryId": 9223372036854775807\n\}\n\nHTTP 201\n/,
      /\n {2}"name": "Rex",\n/,
    ]) {
      expect(out).toMatch(part)
    }
    const json = await control(sandbox, ['requests', 'show', '1', '-o', 'json'])
    expect(JSON.parse(json.out)).toMatchObject({ id: 1, method: 'POST', status: 201 })
    expect(await control(sandbox, ['requests', 'show', '2'])).toEqual({
      code: 1,
      out: '',
      err: 'NOT_FOUND: The log of this space has no exchange 2.\n',
    })
  })

  it('prints a request as a curl command that runs', async () => {
    const sandbox = await sandboxWith()
    await ask(sandbox, '/pets', 'sandbox-pro~checkout', {
      method: 'POST',
      body: '{"name":"R\'ex $HOME","categoryId":1}',
      headers: { 'content-type': 'application/json', 'x-trace': "it's" },
    })
    const { out } = await control(sandbox, ['--space', 'checkout', 'requests', '--curl', '1'])
    const { stdout } = await promisify(execFile)('sh', ['-c', out], {
      env: { PATH: process.env.PATH },
      timeout: 10_000,
    })
    expect(JSON.parse(stdout)).toMatchObject({ name: "R'ex $HOME" })
    const [first, second] = await sandbox.space('checkout').requests()
    expect(second).toMatchObject({ key: 'sandbox-pro', path: first?.path, request: { body: first?.request.body } })
    expect(second?.request.headers['x-trace']).toBe("it's")
  })

  it('sends a request again with its key', async () => {
    const sandbox = await sandboxWith({ limits: '1/min' })
    await ask(sandbox, '/pets?limit=1', 'sandbox')
    await ask(sandbox, '/pets?limit=1', 'sandbox')
    const refused = await control(sandbox, ['requests', 'replay', '2'])
    expect(refused).toMatchObject({ code: 0, err: '' })
    expect(refused.out).toMatch(/^HTTP 429\n/)
    await sandbox.clock.advance('1m')
    const served = JSON.parse((await control(sandbox, ['requests', 'replay', '2', '-o', 'json'])).out)
    expect(served).toMatchObject({ status: 200 })
    const log = await sandbox.requests()
    expect(log.map(({ key, query }) => [key, query])).toEqual(Array.from({ length: 4 }, () => ['sandbox', 'limit=1']))
  })

  it('refuses to replay or print an incomplete request', async () => {
    const sandbox = await sandboxWith()
    const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1', () => socket.end('GARBAGE\r\n\r\n'))
    await text(socket)
    await ask(sandbox, '/pets', 'sandbox', {
      method: 'POST',
      body: JSON.stringify({ name: 'x'.repeat(100_000), categoryId: 1 }),
      headers: { 'content-type': 'application/json' },
    })
    const unread = 'CONFLICT: The request of exchange 1 could not be read, so '
    for (const [argv, err] of [
      [['replay', '1'], `${unread}it cannot be sent again.\n`],
      [['--curl', '1'], `${unread}it has no curl command.\n`],
      [['replay', '2'], 'CONFLICT: The log only has the beginning of the body of exchange 2. Set body.\n'],
    ] as const)
      expect(await control(sandbox, ['requests', ...argv])).toEqual({ code: 1, out: '', err })
    expect(await sandbox.requests()).toHaveLength(2)
  })

  it('reports a replayed request that gets no response', async () => {
    const sandbox = await sandboxWith({ fault: ['listPets:connection-reset'] })
    await ask(sandbox, '/pets', 'sandbox').catch(() => {})
    expect(await control(sandbox, ['requests', 'replay', '1'])).toEqual({
      code: 7,
      out: '',
      err: 'NO_RESPONSE: The request of exchange 1 was sent again, but got no response (connection-reset).\n',
    })
  })

  it('requires a secret key to be given', async () => {
    const sandbox = await sandboxWith({ apiKey: ['team=sk-secret-5678'] })
    await ask(sandbox, '/pets', 'sk-secret-5678')
    await fetch(`${sandbox.baseUrl}/pets`)
    const curl = await control(sandbox, ['requests', '--curl', '1'])
    expect(curl.out).toContain('"Authorization: Bearer $PETSTORE_API_KEY"')
    expect(await control(sandbox, ['requests', 'replay', '1'])).toEqual({
      code: 2,
      out: '',
      err: 'USAGE: The key of exchange 1 (team) is not in the log. Give it with --api-key-file or in PETSTORE_API_KEY. See petstore-sandbox control requests replay --help.\n',
    })
    const given = await control(sandbox, ['requests', 'replay', '1'], { PETSTORE_API_KEY: 'sk-secret-5678' })
    expect(given.out).toMatch(/^HTTP 200\n/)
    const keyless = await control(sandbox, ['requests', 'replay', '2'], { PETSTORE_API_KEY: 'sk-secret-5678' })
    expect(keyless.out).toMatch(/^HTTP 401\n/)
    expect(curl.out + given.out + keyless.out).not.toContain('sk-secret')
  })
})

describe('control', () => {
  it('lists requests with the ids that show, replay and --curl take', async () => {
    const sandbox = await sandboxWith()
    for (const path of ['/pets?limit=1', '/pets?limit=2']) await ask(sandbox, path, 'sandbox')
    const lines = (await control(sandbox, ['requests'])).out.trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ {2}/)[0])).toEqual(['1', '2'])
    expect((await control(sandbox, ['requests', 'show', '2'])).out).toContain('GET /v1/pets?limit=2\n')
  })

  it('reports that a storm is over', async () => {
    const sandbox = await sandboxWith({ storm: '0.3,for=30s' })
    const show = async () => (await control(sandbox, ['storm'])).out
    expect(await show()).toBe('30 % of requests get 429 for 30s, since 2026-03-01T10:00:00.000Z\n')
    await sandbox.clock.advance('30s')
    expect(await show()).toBe('30 % of requests get 429 for 30s, since 2026-03-01T10:00:00.000Z; it has ended\n')
    expect((await control(sandbox, ['status'])).out).toContain('; it has ended\n')
    await sandbox.storm.start({ rate: 1, for: '30s', every: '5m' })
    await sandbox.clock.advance('31s')
    expect(await show()).toMatch(/^all requests get 429 for 30s every 5m, since .*; quiet until it repeats\n$/)
  })

  it.each([['status'], ['pets'], ['clock'], ['requests'], ['keys']])(
    'refuses to read an unknown space: %s',
    async (...verb) => {
      const sandbox = await sandboxWith()
      expect(await control(sandbox, ['--space', 'nope', ...verb])).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^NOT_FOUND: Unknown space "nope"\. A space opens with the first request /),
      })
      expect(await sandbox.spaces.list()).toEqual([])
    },
  )

  it('lists 150,000 pets, or the first of them', async () => {
    const sandbox = await sandboxWith({ pets: 150_000 })
    const all = await control(sandbox, ['pets', 'list'])
    expect(all.code).toBe(0)
    expect(all.out.trimEnd().split('\n')).toHaveLength(150_001)
    const rows = (text: string) => text.split('\n', 3).map((line) => line.split(/ +/))
    expect(rows((await control(sandbox, ['pets', 'list', '--limit', '2'])).out)).toEqual(rows(all.out))
    expect(JSON.parse((await control(sandbox, ['pets', '--limit', '2', '-o', 'json'])).out)).toHaveLength(2)
  })
})
