import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { CONFORM_PAGE, EXAMPLES, example } from '../proofs/conform-proof/examples.js'
import { junitViolations } from '../support/junit-schema.js'
import { crud, inPath, integer, object, text } from '../support/small-contract.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { isRunning, start } from './built.js'
import { run, testIo } from './test-io.js'

/** @param line flags, split at blanks */
async function conform(line: string, command: readonly string[], files: Record<string, string> = {}) {
  const cwd = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(cwd, name, '..'), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  const io = testIo({ cwd, env: { PATH: process.env.PATH } })
  const ended = await run(['conform', ...line.split(' '), '--', ...command], io)
  return { ...ended, read: (name: string) => readFileSync(join(cwd, name), 'utf8') }
}

const PROJECTS = readFileSync(join(packageDirectory, 'test/contract/specs/projects.yaml'), 'utf8')

/** Flags that choose scenarios. */
const only = (...names: readonly string[]) => names.map((name) => `--scenario ${name}`).join(' ')

/** Does its job at once, and repeats it without a pause. */
const HASTY = `
const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key, PETSTORE_JOB: job } = process.env
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
const body = '{"name":"Rex","categoryId":1}'
for (let left = 9; left > 0; left--) {
  const init = job === 'read' ? { headers } : { headers, method: 'POST', body }
  const response = await fetch(base + '/pets', init).catch(() => undefined)
  if (response?.ok) process.exit(0)
}
process.exit(1)`
/** Three widgets read the list at once; each backs off, or retries at once. */
const widgets = (backoffMs: number) => [
  ...[process.execPath, '--input-type=module', '-e'],
  `
const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key } = process.env
const headers = { authorization: 'Bearer ' + key }
const read = async (path) => {
  for (let attempt = 0; attempt < 4; attempt++) {
    const response = await fetch(base + path, { headers })
    if (response.ok) return response.json()
    if (response.status < 429) break
    await new Promise((resolve) => setTimeout(resolve, ${backoffMs} * 2 ** attempt))
  }
  process.exit(1)
}
const [[{ id }]] = await Promise.all([1, 2, 3].map(() => read('/pets')))
await read('/pets/' + id)`,
]
const RUN_HASTY = [process.execPath, '--input-type=module', '-e', HASTY]

describe('conform', () => {
  it.each(EXAMPLES)('passes %s of docs/conform.md, of at most 30 lines', async (file, program) => {
    const text = example(file)
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
    const flags = only('connection-reset', 'int64', 'lost-response', 'unauthorized')
    const { code, out } = await conform(flags, [program, file], { [file]: text })
    expect(out).toMatch(/^✓ 4 passed +4 scenarios, [\d.]+ s\n$/)
    expect(code).toBe(0)
  })

  it('finds a client that creates a pet again after a lost response, and says why', async () => {
    const { code, out } = await conform(`${only('lost-response')} --report out/conform.xml`, RUN_HASTY)
    expect(code).toBe(1)
    expect(out).toMatch(/^failed +lost-response +2 requests/)
    expect(out).toContain('The client created 2 pets instead of one. POST /v1/pets was repeated')
    expect(out).toMatch(/1 [\d:.]+ POST \/v1\/pets no response connection-reset\n +2 [\d:.]+ POST \/v1\/pets 201/)
  })

  it('finds a client that retries early, without backoff, or although it cannot help', async () => {
    const names = 'retry-after-seconds ban unauthorized banned-at-start error-503-retry-after day-quota'.split(' ')
    const { code, out } = await conform(`--job read -o json ${only(...names)}`, RUN_HASTY)
    const { scenarios } = JSON.parse(out) as { scenarios: { name: string; outcome: string; reason: string }[] }
    expect(Object.fromEntries(scenarios.map(({ name, outcome }) => [name, outcome]))).toEqual(
      Object.fromEntries(names.map((name) => [name, 'failed'])),
    )
    expect(scenarios.find(({ name }) => name === 'unauthorized')?.reason).toMatch(
      /was sent 9 times, at most 1 expected/,
    )
    expect(code).toBe(1)
  })

  it('passes parallel requests that are not retries, or that each back off', async () => {
    const { code, out } = await conform(
      `--job read ${only('unauthorized', 'banned-at-start', 'error-503')}`,
      widgets(500),
    )
    expect(out).toMatch(/^✓ 3 passed +3 scenarios, [\d.]+ s\n$/)
    expect(code).toBe(0)
  })

  it('finds parallel requests that each retry at once', async () => {
    const names = ['retry-after-seconds', 'retry-after-date', 'error-503-retry-after']
    const { out } = await conform(`--job read ${only(...names)}`, widgets(0))
    expect(out).toMatch(/^✗ 3 failed +3 scenarios, /)
    expect(out).toMatch(
      /^✗ Your client retries too early \(early-retry\) +3 scenarios\n {2}GET \/v1\/pets {3}\d{3} Retry-After .* came back after/m,
    )
    expect(out).not.toContain('--senders')
  })

  it('finds a client that retries at once with another unknown parameter each time', async () => {
    const buster = HASTY.replace("base + '/pets'", "base + '/pets?_=' + left")
    const { out } = await conform(`--job read ${only('retry-after-seconds', 'unauthorized', 'error-503')}`, [
      ...[process.execPath, '--input-type=module', '-e', buster],
    ])
    expect(out).toMatch(/^✗ 3 failed +3 scenarios, /)
  })

  it('counts failed and untested scenarios, and says how to run them again', async () => {
    const failing = [
      'sh',
      '-c',
      'test "$PETSTORE_SCENARIO" = hang || curl -sH "Authorization: Bearer $PETSTORE_API_KEY" "$PETSTORE_BASE_URL/pets"',
    ]
    const flags = `--job read ${only('hang', 'unauthorized')}`
    expect((await conform(flags, failing)).out).toMatch(
      /^✗ 1 failed {3}○ 1 untested +2 scenarios, [\s\S]*Run one again: .*--scenario unauthorized --job read -- /,
    )
    const { out } = await conform(`${flags} -o json`, failing)
    expect(out).toContain('--scenario hang --scenario unauthorized')
  })

  it.each([
    ['rounds ids', 'Number', '9007200489308884'],
    ['keeps 32 bits of ids', '((id) => BigInt.asIntN(32, BigInt(id)))', '1234567891'],
  ])('finds a client that %s, and shows its error without the stack trace', async (_, change, wrong) => {
    const changed = example('client.mjs').replace(/\$\{(\/"id.*\])\}/, (_, id) => `$\{${change}(${id})}`)
    const { code, out } = await conform(only('int64'), [process.execPath, 'client.mjs'], { 'client.mjs': changed })
    expect(out).toContain(`requested /v1/pets/${wrong}, a record that does not exist`)
    expect(out).toContain(`| Error: GET /pets/${wrong}: 404\n`)
    expect(code).toBe(1)
  })

  it('fails an untested scenario unless it is allowed', async () => {
    const once = await conform(only('error-503'), ['true'])
    expect([once.code, once.out]).toEqual([1, expect.stringMatching(/^untested error-503 +0 requests.*No request/s)])
    expect((await conform(`${only('error-503')} --allow-untested`, ['true'])).code).toBe(0)
  })

  it('accepts known failures, and fails one that passes now', async () => {
    const baseline = { 'known.yaml': 'lost-response: issue 12\nunauthorized: issue 13\n' }
    const flags = `--baseline known.yaml --report conform.xml ${only('lost-response')}`
    expect(await conform(flags, RUN_HASTY, baseline)).toMatchObject({ code: 0 })
    const known = { 'known.yaml': 'lost-response: it does not fail\n' }
    const stale = await conform(`${flags} ${only('unauthorized')}`, ['false'], known)
    expect(stale.code).toBe(1)
    const report = stale.read('conform.xml')
    expect(junitViolations(report)).toEqual([])
    const times = [...report.matchAll(/ time="([\d.]+)"/g)].map(([, seconds]) => Number(seconds))
    expect(times.map((seconds) => seconds > 0)).toEqual([true, true, true])
    const unknown = { code: 2, err: expect.stringContaining('known.yaml:1:1') }
    expect(await conform('--baseline known.yaml', ['true'], { 'known.yaml': 'lost: x\n' })).toMatchObject(unknown)
  })

  it('runs scenarios of a folder, and refuses wrong ones with their places', async () => {
    const [, own = ''] = /^```yaml no-run: a custom scenario\n(.*?)^```/ms.exec(CONFORM_PAGE) ?? []
    const flags = `--scenarios own ${only('lost-response-503')}`
    const found = await conform(flags, RUN_HASTY, { 'own/lost-response-503.yaml': own })
    expect([found.code, found.out]).toEqual([1, expect.stringContaining('created 2 pets')])
    const wrong = await conform(flags, ['true'], { 'own/a.yaml': 'fault: "*:200"\nconform:\n  ends: soon\n' })
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/a\.yaml:1:/)])
  })

  it('tests a client of another contract, and names the scenarios that do not apply', async () => {
    const client = `
const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key, PETSTORE_CONFORM_STEPS: steps } = process.env
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
const init = steps === 'listProjects,getProject' ? { headers } : { headers, method: 'POST', body: '{"name":"Roof"}' }
for (let left = 2; left > 0; left--) {
  const response = await fetch(base + '/projects', init).catch(() => undefined)
  if (!response?.ok) continue
  const [, id] = /"id": *([0-9]+)/.exec(await response.text())
  process.exit((await fetch(base + '/projects/' + Number(id), { headers })).ok ? 0 : 1)
}
process.exit(1)`
    const names = ['removed-operation', 'connection-reset', 'int64', 'enum-growth', 'lost-response']
    const { out, err } = await conform(
      `--spec projects.yaml ${only(...names)} -o json`,
      [process.execPath, '--input-type=module', '-e', client],
      { 'projects.yaml': PROJECTS },
    )
    const { scenarios } = JSON.parse(out) as { scenarios: { name: string; outcome: string; reason: string }[] }
    expect(Object.fromEntries(scenarios.map(({ name, outcome }) => [name, outcome]))).toEqual({
      'removed-operation': 'not-applicable',
      'connection-reset': 'passed',
      'enum-growth': 'passed',
      int64: 'failed',
      'lost-response': 'failed',
    })
    const reasons = scenarios.map(({ reason }) => reason).join('\n')
    expect(reasons).toContain('No operation of projects has x-deprecated-sunset.')
    expect(reasons).toContain('The client created 2 projects instead of one.')
    expect(reasons).toContain('/projects/9007200489308884, a record that does not exist')
    expect(err).toContain('conform uses the resource projects: listProjects, getProject, createProject')
  })

  it('tests a client without a key, where the contract needs none', async () => {
    const client = `
const { PETSTORE_BASE_URL: base } = process.env
for (let wait = 1; wait < 2000; wait *= 4) {
  const response = await fetch(base + '/notes').catch(() => undefined)
  if (response?.ok) {
    const [{ id }] = await response.json()
    process.exit((await fetch(base + '/notes/' + id)).ok ? 0 : 1)
  }
  await new Promise((resolve) => setTimeout(resolve, wait))
}
process.exit(1)`
    const note = object({ id: integer, text }, ['id', 'text'])
    const paths = crud('/notes', '/notes/{id}', note, [inPath('id', integer)])
    const names = ['connection-reset', 'unauthorized', 'minute-quota', 'banned-at-start']
    const { code, out } = await conform(
      `--spec notes.json ${only(...names)} --job read -o json`,
      [process.execPath, '--input-type=module', '-e', client],
      { 'notes.json': JSON.stringify({ openapi: '3.1.0', info: { title: 'Notes', version: '1' }, paths }) },
    )
    const { scenarios } = JSON.parse(out) as { scenarios: { name: string; outcome: string; reason: string }[] }
    expect([code, scenarios.map(({ name, outcome }) => [name, outcome]).sort()]).toEqual([
      0,
      [
        ['banned-at-start', 'not-applicable'],
        ['connection-reset', 'passed'],
        ['minute-quota', 'not-applicable'],
        ['unauthorized', 'not-applicable'],
      ],
    ])
    expect(scenarios.map(({ reason }) => reason)).toContain('The command needs no key for notes.')
  })

  it('tests a wrong key only in a job that needs one', async () => {
    const note = object({ id: integer, text }, ['id', 'text'])
    const paths = crud('/notes', '/notes/{id}', note, [inPath('id', integer)])
    const { '/notes': notes, '/notes/{id}': one } = paths as Record<string, { get: object }>
    const open = (path = one) => ({ ...path, get: { ...path?.get, security: [] } })
    const document = {
      ...{ openapi: '3.1.0', info: { title: 'Notes', version: '1' }, security: [{ key: [] }] },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      paths: { '/notes': open(notes), '/notes/{id}': open() },
    }
    const client = `
const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key, PETSTORE_JOB: job } = process.env
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
const body = job === 'create' ? { method: 'POST', body: '{"id":1,"text":"a"}' } : {}
process.exit((await fetch(base + '/notes', { headers, ...body })).ok ? 0 : 1)`
    const files = { 'notes.json': JSON.stringify(document) }
    const outcome = async (more = '') => {
      const args = `--spec notes.json ${only('unauthorized')}${more} -o json`
      const command = [process.execPath, '--input-type=module', '-e', client]
      const { out, err } = await conform(args, command, files)
      return out === '' ? err : (JSON.parse(out) as { scenarios: { outcome: string }[] }).scenarios[0]?.outcome
    }
    expect(await outcome()).toBe('passed')
    expect(await outcome(' --job read')).toContain('unauthorized does not apply: The command needs no key for notes.')
  })

  it('refuses an unknown resource, and scenarios of which none applies', async () => {
    const files = { 'projects.yaml': PROJECTS }
    const unknown = await conform('--spec projects.yaml --resource task', ['true'], files)
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('did you mean tasks?')])
    const none = await conform(`--spec projects.yaml --resource comments ${only('int64')}`, ['true'], files)
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('int64 does not apply: comments has no')])
  })

  it('reports a command that does not exist, and bounds one that hangs', async () => {
    const missing = expect.stringContaining('NO_SUCH_COMMAND: "no-such-command" was not found')
    expect(await conform(only('hang'), ['no-such-command'])).toMatchObject({ code: 127, err: missing })
    const hung = await conform(`${only('hang')} --timeout 500ms`, ['sleep', '60'])
    expect([hung.code, hung.out]).toEqual([1, expect.stringContaining('did not end in time')])
  })

  it('reads any amount of output, and keeps the end of it', async () => {
    const script = 'head -c 20000000 /dev/zero | tr "\\\\0" x; echo; echo the end; exit 3'
    const { out } = await conform(only('hang'), ['sh', '-c', script])
    expect(out).toContain('| the end')
    expect(out.length).toBeLessThan(10_000)
  })

  it.runIf(process.platform !== 'win32')('ends everything that its commands have started on a signal', async () => {
    const cwd = temporaryFolder()
    const { child, ended } = start(['conform', '--', 'sh', '-c', 'sleep 60 & echo $! >> pids; wait'], { cwd })
    const pids = () => readFileSync(join(cwd, 'pids'), 'utf8').trim().split('\n').map(Number)
    await expect.poll(() => existsSync(join(cwd, 'pids')) && pids().length).toBeGreaterThan(0)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(pids().filter(isRunning)).toEqual([])
  })

  it('refuses a named scenario that is not for the job of the command', async () => {
    const { code, err } = await conform('--job create --scenario lost-response --scenario hang', ['true'])
    expect([code, err]).toEqual([2, expect.stringContaining('--scenario hang is not for --job create')])
  })

  it('lists the scenarios, each of which is in docs/conform.md', async () => {
    const { code, out } = await conform('--list', [])
    expect(code).toBe(0)
    const names = [...out.matchAll(/^\S+/gm)].map(([name]) => name)
    expect(names.filter((name) => !CONFORM_PAGE.includes(`\`${name}\``))).toEqual([])
  })
})
