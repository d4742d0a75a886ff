import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Drift, driftingService } from '../client/drifting-service.js'
import { junitViolations } from '../support/junit-schema.js'
import { control, run, sandboxWith, testIo } from './test-io.js'

const REAL_KEY = 'a-real-key-of-staging'
/** A client test: read, add, and read the new pet. */
const SUITE = `
  const call = (path, init = {}) => fetch(process.env.PETSTORE_BASE_URL + path, { ...init,
    headers: { Authorization: 'Bearer ' + process.env.PETSTORE_API_KEY, 'Content-Type': 'application/json' } });
  const { id } = await (await call('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })).json();
  const found = await (await call('/pets/' + id)).json();
  const [first] = await (await call('/pets?limit=1')).json();
  const missing = await call('/pets/4711');
  if (found.name !== 'Rex' || first.id !== id || missing.status !== 404) process.exit(3);`

async function exec(drift: Drift | undefined, flags: string) {
  const service = await driftingService(drift, { apiKey: [`real=${REAL_KEY}:business`] })
  const io = testIo({ env: { PATH: process.env.PATH } })
  writeFileSync(join(io.cwd, 'key'), REAL_KEY)
  const all = `--upstream ${service.baseUrl} --upstream-api-key-file key ${flags}`
  const { code, err } = await run(
    ['exec', ...all.split(' '), '--', process.execPath, '--input-type=module', '-e', SUITE],
    io,
  )
  return { code, err, came: service.came, report: () => readFileSync(join(io.cwd, 'run.xml'), 'utf8') }
}

it('exec in front of a real service fails with --fail-on drift, names the drift, and reports it as JUnit', async () => {
  const drift: Drift = (_came, goes) => {
    if (goes.status === 404) goes.headers['content-type'] = 'application/problem+json'
    return goes
  }
  const { code, err, report } = await exec(drift, '--fail-on drift --report run.xml')
  const line = 'drift, getPet: the media type is "application/problem+json", not application/json (once)'
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`--fail-on failed the run:\n  ${line}`) })
  const xml = report()
  expect(xml).toMatch(/<testcase classname="drift" name="getPet"[^>]*><failure/)
  expect(junitViolations(xml)).toEqual([])
  expect(xml + err).not.toContain(REAL_KEY)
})

it('control drift prints the drift of the upstream, and none without an upstream', async () => {
  const out = '0 responses of the real service, 0 drifted\n'
  expect(await control(await sandboxWith(), 'drift')).toEqual({ code: 0, out, err: '' })
})
