import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { driftingService } from '../client/drifting-service.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { run, sandboxWith, testIo } from './test-io.js'

const REAL_KEY = 'a-real-key-of-staging'
/** Fails unless a read succeeds, and a write and a read by a website are refused. */
const SUITE = `
  const call = async (method, headers = {}) => (await fetch(process.env.PETSTORE_BASE_URL + '/pets', { method,
    headers: { Authorization: 'Bearer ' + process.env.PETSTORE_API_KEY, ...headers } })).status;
  const statuses = [await call('GET'), await call('POST'), await call('GET', { Origin: 'https://evil.example' })];
  if (statuses.join() !== '200,403,403') process.exit(3);`

it('exec in front of a real service forwards reads, refuses writes, and refuses websites', async () => {
  const { baseUrl, came } = await driftingService(undefined, { apiKey: [`real=${REAL_KEY}:business`] })
  const io = testIo({ env: { PATH: process.env.PATH } })
  writeFileSync(join(io.cwd, 'key'), REAL_KEY)
  const flags = `exec --upstream ${baseUrl} --upstream-api-key-file key --`
  const { code, err } = await run([...flags.split(' '), process.execPath, '--input-type=module', '-e', SUITE], io)
  expect(code).toBe(0)
  expect(came.map(({ method, key }) => [method, key])).toEqual([['GET', REAL_KEY]])
  expect(err).toContain('Refused a web page of "https://evil.example"')
})

it('records of a real service that call has saved are fixtures', async () => {
  const { baseUrl, sandbox: real } = await driftingService(undefined, { apiKey: [`real=${REAL_KEY}:business`] })
  const cwd = temporaryFolder()
  const command = (line: string) => run(line, testIo({ cwd, env: { XDG_CONFIG_HOME: cwd } }))
  const fixtures = join(cwd, 'fixtures')
  mkdirSync(fixtures)
  writeFileSync(join(cwd, 'key'), REAL_KEY)
  await command(`target set staging --base-url ${baseUrl} --api-key-file key`)
  for (const [operation, file] of [
    ['listPets', 'pets.json'],
    ['listOrders', 'orders.json'],
  ] as const) {
    const { code, out } = await command(`call ${operation} -t staging`)
    expect(code).toBe(0)
    writeFileSync(join(fixtures, file), out)
  }
  // Lists are newest first, and fixtures oldest first.
  const sandbox = await sandboxWith({ fixtures, order: 'oldest' })
  const list = async (path: string, { fetch, baseUrl }: Pick<typeof real, 'fetch' | 'baseUrl'>) =>
    (await fetch(baseUrl + path, { headers: { Authorization: 'Bearer sandbox' } })).text()
  for (const path of ['/pets', '/store/orders'])
    expect(await list(path, { ...sandbox, fetch })).toBe(await list(path, real))
})
