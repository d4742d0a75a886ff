import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { prettyExchange } from '../../src/cli/pretty-log.js'
import { coloursFor } from '../../src/cli/print.js'
import { jsonExchange } from '../../src/cli/serve-log.js'
import { exchangeView } from '../../src/exchanges/exchange-record.js'
import { createSandbox, startSandbox } from '../../src/index.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

/** What must be nowhere. */
const SECRET = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'

describe.each(transports)('a secret that a client sends, %s', (_name, openSandbox) => {
  it.each<[string, Sent]>([
    ['in a query', { path: `/pets?access_token=${SECRET}&limit=1` }],
    ['in a path’s parameter', { path: `/pets;jsessionid=${SECRET}` }],
    ['in a header', { headers: { APIKEY: SECRET } }],
    ['in the address that it came from', { headers: { Referer: `https://shop.example/?token=${SECRET}` } }],
    [
      'in a form',
      { body: `client_secret=${SECRET}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
    ['as another scheme', { key: null, headers: { Authorization: `Basic ${SECRET}` } }],
    ['as an unknown key', { key: SECRET }],
    [
      'as an unknown key and in path, query, header and body',
      { key: SECRET, path: `/pets/${SECRET}?x=${SECRET}`, headers: { 'x-foo': SECRET }, body: { name: SECRET } },
    ],
    ['as an unknown key and percent-encoded', { key: `${SECRET}/+=`, path: `/pets?x=${SECRET}%2F%2B%3D` }],
    ['behind an unknown key', { key: `abc~${SECRET}`, anyKey: [false] }],
  ])('%s is neither logged nor told of', async (_where, { path = '/pets', body, anyKey: modes, ...options }) => {
    // With --any-key, what follows `~` is the name of a space.
    for (const anyKey of modes ?? [false, true]) {
      const sandbox = await openSandbox({ anyKey, seed: 1 })
      await sandbox.call(`/v1${path}`, { ...options, ...(body === undefined ? {} : { method: 'POST', body }) })
      const chalk = await coloursFor(0)
      const lines = [...sandbox.core.spaces.default.log].flatMap((record) => [
        JSON.stringify(record),
        jsonExchange(record),
        prettyExchange(exchangeView(record), chalk),
      ])
      expect(lines).toHaveLength(3)
      const told = [...lines, ...sandbox.warnings]
      for (const verb of ['/requests', '/state', '/conduct', '/spaces', '/keys']) {
        told.push(JSON.stringify((await sandbox.control('GET', verb)).json))
      }
      expect(told.join('\n')).not.toContain(SECRET)
    }
  })

  it('names a space after the "~" of any key, with --any-key, also one that is open', async () => {
    const sandbox = await openSandbox({ anyKey: true })
    const remaining = async (key: string) => (await sandbox.get('/pets', key)).remaining
    expect([await remaining('abc~one'), await remaining('abc~one'), await remaining('abc~two')]).toEqual([59, 58, 59])
    await sandbox.get('/pets', 'sandbox~one')
    expect(sandbox.core.spaces.names()).toEqual(['one', 'two'])
    expect((await sandbox.control('GET', '/state?space=one')).json.counts).toMatchObject({ requests: 3 })
  })
})

interface Sent {
  readonly anyKey?: readonly boolean[]
  readonly path?: string
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

describe.each(transports)('a key given at the start, %s', (_name, openSandbox) => {
  it('is shown by its label, which every verb takes in its place', async () => {
    const sandbox = await openSandbox({ apiKey: `team=${SECRET}:pro` })
    expect(await sandbox.get('/pets', SECRET)).toMatchObject({ status: 200, limit: 300 })
    const { json } = await sandbox.control('GET', '/requests?key=team')
    expect(json).toMatchObject([{ key: 'team', request: { headers: { authorization: 'Bearer team' } } }])
    expect((await sandbox.control('GET', `/requests?key=${SECRET}`)).json).toHaveLength(1)
    expect((await sandbox.control('GET', '/keys')).json).toContainEqual(
      expect.objectContaining({ key: 'team', secret: true, plan: 'pro' }),
    )
    expect((await sandbox.control('PATCH', '/keys/team', { plan: 'business' })).json).toMatchObject({ key: 'team' })
    expect(await sandbox.get('/pets', SECRET)).toMatchObject({ limit: 1000 })
    await sandbox.control('PUT', '/keys/team/ban')
    expect(await sandbox.get('/pets', SECRET)).toMatchObject({ status: 429, code: 'api_key_banned' })
    await sandbox.control('DELETE', `/keys/${SECRET}/ban`)
    await sandbox.control('PUT', '/scenario', { used: { team: '1000/min' } })
    expect(await sandbox.get('/pets', SECRET)).toMatchObject({ status: 429, reason: 'quota-minute' })
    expect(await sandbox.control('POST', '/keys', { key: 'team' })).toMatchObject({ status: 409 })
    expect(await sandbox.control('DELETE', '/keys/team')).toMatchObject({ status: 200, json: { removed: 'team' } })
    expect((await sandbox.get('/pets', SECRET)).status).toBe(401)
  })

  it('is shown by a digest without a label, the same in every run', async () => {
    const sandbox = await openSandbox({ apiKey: SECRET })
    await sandbox.get('/pets', SECRET)
    expect((await sandbox.control('GET', '/requests')).json).toMatchObject([{ key: 'key-78a08441' }])
  })

  it('is hidden in conduct, and wherever else its client writes it', async () => {
    const sandbox = await openSandbox({ apiKey: `team=${SECRET}` })
    await sandbox.get(`/pets?x=${SECRET}&limit=${SECRET}`, SECRET)
    for (const path of ['/pets?colour=red', '/animals', `/pets/${SECRET}`]) await sandbox.get(path, SECRET)
    const body = `{"name":"${SECRET}","categoryId":"${SECRET}"}`
    const headers = { 'x-foo': SECRET, prefer: `code=${SECRET}` }
    await sandbox.call('/v1/pets', { key: SECRET, method: 'POST', body, headers })
    for (const agent of ['one', SECRET])
      await sandbox.call('/v1/pets/1', { key: SECRET, headers: { 'user-agent': agent } })
    const { json: requests } = await sandbox.control('GET', '/requests')
    const { json: conduct } = await sandbox.control('GET', '/conduct')
    expect(conduct).toMatchObject({ keys: [{ key: 'team', plan: 'free' }] })
    expect(JSON.stringify([requests, conduct])).not.toContain(SECRET)
  })

  it('of the fixtures is not a secret', async () => {
    const sandbox = await openSandbox({ apiKey: 'sandbox-pro:free' })
    await sandbox.get('/pets', 'sandbox-pro')
    expect((await sandbox.control('GET', '/requests')).json).toMatchObject([{ key: 'sandbox-pro' }])
  })

  it.each([['sandbox=abc'], ['unknown=abc'], [['a=one', 'a=two']], [['a=one', 'a']]])(
    'is refused where its label stands for another: %o',
    async (apiKey) => {
      await expect(createSandbox({ apiKey })).rejects.toMatchObject({
        code: 'LABEL_TAKEN',
        message: expect.stringMatching(/The label "\w+" of an API key is already in use/),
      })
    },
  )
})

it('a written file holds no key of the start, and is its user’s alone', async () => {
  const folder = temporaryFolder()
  const store = join(folder, 'made', 'deep', 'store.json')
  const umask = process.umask(0o022)
  onTestFinished(() => void process.umask(umask))
  const modes = new Map<string, string>()
  const look = () => {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const stat = statSync(join(folder, name))
      modes.set(name, (stat.mode & 0o777).toString(8))
      if (stat.isFile()) expect(readFileSync(join(folder, name), 'utf8'), name).not.toContain(SECRET)
    }
  }
  const sandbox = await startSandbox({ store, apiKey: [SECRET, `team=${SECRET}2`] })
  for (const key of [SECRET, `${SECRET}2`]) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' }
    expect((await fetch(`${sandbox.baseUrl}/pets`, init)).status).toBe(201)
  }
  await sandbox.ban('team')
  await sandbox.snapshots.save('full')
  look()
  await sandbox.reset()
  await sandbox.snapshots.restore('full')
  const { keys } = await sandbox.state()
  expect(keys.find(({ key }) => key === 'team')?.ban).not.toBeNull()
  expect(keys.find(({ key }) => key.startsWith('key-'))?.minute?.remaining).toBe(59)
  await sandbox.close()
  look()
  expect(Object.fromEntries(modes)).toEqual({
    made: '700',
    'made/deep': '700',
    'made/deep/store.json': '600',
    'made/deep/store.json.journal': '600',
    'made/deep/store.json.lock': '600',
    'made/deep/snapshots': '700',
    'made/deep/snapshots/full.json': '600',
  })
})
