import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { control, controlJson, get, sandboxWith } from '../test-io.js'

/** A POST of a pet. */
const posting = (body: string, headers = {}) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', ...headers },
})

describe('control requests', () => {
  it('lists a class of statuses, and the newest of it', async () => {
    const sandbox = await sandboxWith()
    for (const target of ['/pets', '/pets?limit=0', '/nowhere', '/pets']) await get(sandbox, target)
    expect(await controlJson(sandbox, 'requests --status 4xx')).toMatchObject([{ status: 400 }, { status: 404 }])
    expect(await controlJson(sandbox, 'requests --status 4XX --limit 1')).toMatchObject([{ status: 404 }])
    expect((await control(sandbox, 'requests --status 4x')).err).toBe(
      "USAGE: option '--status <status>' argument '4x' is invalid: must be a status, for example 429 or 4xx. See petstore-sandbox control requests list --help.\n",
    )
  })

  it('shows all of one exchange, by its id in the list', async () => {
    const sandbox = await sandboxWith()
    await get(sandbox, '/pets?limit=1')
    await get(sandbox, '/pets', 'sandbox-pro', posting('{"name":"Rex","categoryId":9223372036854775807}'))
    const lines = (await control(sandbox, 'requests')).out.trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ {2}/)[0])).toEqual(['1', '2'])
    const { out } = await control(sandbox, 'requests show 2')
    for (const part of [
      /^exchange {3}2\nat {9}2026-03-01T10:00:00.000Z\nkey {8}sandbox-pro\noperation {2}createPet\n/,
      /\n\nPOST \/v1\/pets\n/,
      /\ncontent-type: application\/json\n/,
      /\n\n\{\n {2}"name": "Rex",\n {2}"categoryId": 9223372036854775807\n\}\n\nHTTP 201\n/,
    ])
      expect(out).toMatch(part)
    expect(await controlJson(sandbox, 'requests show 2')).toMatchObject({ id: 2, method: 'POST', status: 201 })
    const missing = { code: 1, out: '', err: 'NOT_FOUND: The log of this space has no exchange 3.\n' }
    expect(await control(sandbox, 'requests show 3')).toEqual(missing)
  })

  it('prints a request as a curl command that runs', async () => {
    const sandbox = await sandboxWith()
    const added = posting('{"name":"R\'ex $HOME","categoryId":1}', { 'x-trace': "it's" })
    await get(sandbox, '/pets', 'sandbox-pro~checkout', added)
    const { out } = await control(sandbox, '--space checkout requests --curl 1')
    const options = { env: { PATH: process.env.PATH } }
    const { stdout } = await promisify(execFile)('sh', ['-c', out], options)
    expect(JSON.parse(stdout)).toMatchObject({ name: "R'ex $HOME" })
    const [first, second] = await sandbox.space('checkout').requests()
    expect(second).toMatchObject({ key: 'sandbox-pro', path: first?.path, request: { body: first?.request.body } })
    expect(second?.request.headers['x-trace']).toBe("it's")
  })

  it('sends a request again with its key, and reports one that gets no response', async () => {
    const sandbox = await sandboxWith({ limits: '1/min' })
    await get(sandbox, '/pets?limit=1')
    await get(sandbox, '/pets?limit=1')
    const refused = { code: 0, out: expect.stringMatching(/^HTTP 429\n/), err: '' }
    expect(await control(sandbox, 'requests replay 2')).toEqual(refused)
    await sandbox.clock.advance('1m')
    expect(await controlJson(sandbox, 'requests replay 2')).toMatchObject({ status: 200 })
    await sandbox.faults.add('listPets:connection-reset')
    const err = 'NO_RESPONSE: The request of exchange 1 was sent again, but got no response (connection-reset).\n'
    expect(await control(sandbox, 'requests replay 1')).toEqual({ code: 7, out: '', err })
    const log = await sandbox.requests()
    expect(log.map(({ key, query }) => [key, query])).toEqual(Array.from({ length: 5 }, () => ['sandbox', 'limit=1']))
  })

  it('refuses to replay or print an incomplete request', async () => {
    const sandbox = await sandboxWith()
    const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1', () => socket.end('GARBAGE\r\n\r\n'))
    await text(socket)
    for (const character of ['x', 'ë'])
      await get(sandbox, '/pets', 'sandbox', posting(JSON.stringify({ name: character.repeat(60_000), categoryId: 1 })))
    await get(sandbox, '/pets', 'sandbox', posting(JSON.stringify({ name: 'x'.repeat(100_000), categoryId: 1 })))
    const unread = 'CONFLICT: The request of exchange 1 could not be read, so '
    for (const [argv, err] of [
      ['replay 1', `${unread}it cannot be sent again.\n`],
      ['--curl 1', `${unread}it has no curl command.\n`],
      ...[3, 4].flatMap((id) => {
        const cut = `CONFLICT: The log only has the beginning of the body of exchange ${id}`
        return [
          [`replay ${id}`, `${cut}. Set body.\n`] as const,
          [`--curl ${id}`, `${cut}, so it has no curl command.\n`] as const,
        ]
      }),
    ])
      expect(await control(sandbox, `requests ${argv}`)).toEqual({ code: 1, out: '', err })
    expect((await control(sandbox, 'requests --curl 2')).out).toContain('xxx","categoryId":1}')
    expect(await sandbox.requests()).toHaveLength(4)
  })

  it('requires a secret key to be given', async () => {
    const sandbox = await sandboxWith({ apiKey: ['team=sk-secret-5678'] })
    const given = { PETSTORE_API_KEY: 'sk-secret-5678' }
    await get(sandbox, '/pets', 'sk-secret-5678')
    await fetch(`${sandbox.baseUrl}/pets`)
    expect(await control(sandbox, 'requests replay 1')).toEqual({
      code: 2,
      out: '',
      err: 'USAGE: The key of exchange 1 (team) is not in the log. Give it with --api-key-file or in PETSTORE_API_KEY. See petstore-sandbox control requests replay --help.\n',
    })
    for (const [argv, out] of [
      ['--curl 1', /"Authorization: Bearer \$PETSTORE_API_KEY"/],
      ['replay 1', /^HTTP 200\n/],
      ['replay 2', /^HTTP 401\n/],
    ] as const) {
      const printed = (await control(sandbox, `requests ${argv}`, given)).out
      expect(printed).toMatch(out)
      expect(printed).not.toContain('sk-secret')
    }
  })

  it('writes the log as an HTTP archive', async () => {
    const sandbox = await sandboxWith()
    for (const path of ['/pets', '/nothing']) await get(sandbox, path)
    const { code, out, err } = await control(sandbox, 'requests --har --status 404')
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out).log.entries).toMatchObject([{ response: { status: 404 } }])
    expect(out).not.toContain('Bearer sandbox')
    const ofClass = await control(sandbox, 'requests --har --status 4xx')
    expect(JSON.parse(ofClass.out).log.entries).toMatchObject([{ response: { status: 404 } }])
  })
})

describe('control', () => {
  it('reports that a storm is over', async () => {
    const sandbox = await sandboxWith({ storm: '0.3,for=30s' })
    const show = async () => (await control(sandbox, 'storm')).out
    await sandbox.clock.advance('30s')
    expect(await show()).toBe('30 % of requests get 429 for 30s, since 2026-03-01T10:00:00Z; it has ended\n')
    expect((await control(sandbox, 'status')).out).toContain('; it has ended\n')
    await sandbox.storm.start({ rate: 1, for: '30s', every: '5m' })
    await sandbox.clock.advance('31s')
    expect(await show()).toMatch(/^all requests get 429 for 30s every 5m, since .*; quiet until it repeats\n$/)
  })

  it.each(['status', 'records', 'clock', 'requests', 'keys'])('refuses to read an unknown space: %s', async (verb) => {
    const sandbox = await sandboxWith()
    const unknown = /^NOT_FOUND: Unknown space "nope"\. A space opens with the first request /
    const refused = { code: 1, out: '', err: expect.stringMatching(unknown) }
    expect(await control(sandbox, `--space nope ${verb}`)).toEqual(refused)
    expect(await sandbox.spaces.list()).toEqual([])
  })
})
