import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/api/start.js'
import { runCli } from '../../src/cli/run-cli.js'
import { readLocation } from '../../src/client/location.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { flagName } from '../../src/options/names.js'
import { OPTION_NAMES } from '../../src/options/table.js'
import { junitViolations } from '../support/junit-schema.js'
import { run, type TestIo, testIo } from './test-io.js'

const NODE = process.execPath

const ioWith = (env: TestIo['env'] = {}) => testIo({ env: { PATH: process.env.PATH, ...env } })
const readIn = (io: TestIo, file: string) => readFileSync(join(io.cwd, file), 'utf8')

/** Runs a script in Node as the command of `exec`; `found` is what the script keeps. */
async function exec(flags: string, script: string, io = ioWith()) {
  const words = flags.split(' ').filter((word) => word !== '')
  const ended = await run(['exec', ...words, '--', NODE, '--input-type=module', '-e', `${PROLOGUE}${script}`], io)
  return { ...ended, found: readdirSync(io.cwd).includes('out') ? JSON.parse(readIn(io, 'out')) : undefined }
}

const CALL = `const call = (path, init = {}) => fetch(process.env.PETSTORE_BASE_URL + path, {
  ...init, headers: { Authorization: 'Bearer ' + process.env.PETSTORE_API_KEY } });`
const KEEP = `const keep = (value) => require('node:fs').writeFileSync('out', JSON.stringify(value));`
const STRAYING = `const stray = () => fetch(process.env.PETSTORE_BASE_URL + '/pets');`
const OPERATIONS = packagedContract().operations.map(({ id }) => id)
const PROLOGUE = `import { createRequire } from 'node:module'; const require = createRequire('/'); ${CALL} ${KEEP} ${STRAYING}\n`

/** The operations of the contract but these. */
function missed(...operations: readonly string[]): readonly string[] {
  return OPERATIONS.filter((id) => !operations.includes(id))
}

/** What the summary says of the operations that a command has reached. */
function reached(...operations: readonly string[]): string {
  return `${operations.length} of ${OPERATIONS.length} operations reached (not ${missed(...operations).join(', ')})`
}

describe('exec', () => {
  it('leaves nothing of its archive behind if it cannot start', async () => {
    const busy = await startSandbox()
    onTestFinished(() => busy.close())
    const { port } = new URL(busy.baseUrl)
    const io = ioWith()
    expect((await exec(`--port ${port} --har seen.har`, '', io)).code).toBe(125)
    expect(readdirSync(io.cwd)).toEqual([])
  })

  it('gives the command a sandbox of its own, summarizes its traffic, and leaves nothing behind', async () => {
    const io = ioWith()
    const script = `const statuses = []
      for (const path of ['/pets', '/pets/1', '/nope']) statuses.push((await call(path)).status)
      if (String(statuses) !== '200,200,404') process.exit(1)`
    const { code, out, err } = await exec('', script, io)
    expect({ code, out }).toEqual({ code: 0, out: '' })
    expect(err.split('\n')).toEqual([
      `petstore-sandbox: 3 requests; ${reached('listPets', 'getPet')}; none refused`,
      'petstore-sandbox: conduct: 1 violation (undocumented-endpoint 1), 1 warning (deprecated-operation 1); on the plan free, no request would have been refused',
      '',
    ])
    expect(readdirSync(io.cwd)).toEqual([])
  })

  it('passes the addresses and the control token to the command', async () => {
    const io = ioWith({ MINE: 'kept', PETSTORE_API_KEY: 'a real one', NO_PROXY: 'example.com' })
    const { found, err } = await exec('--control-token secret-1', 'keep(process.env)', io)
    expect(err).not.toContain('conduct')
    const [, port] = /^http:\/\/127\.0\.0\.1:(\d+)\/v1$/.exec(found.PETSTORE_BASE_URL) ?? []
    expect(port).not.toBe('4010')
    expect(found).toMatchObject({
      PETSTORE_API_KEY: 'sandbox',
      PETSTORE_SANDBOX_URL: `http://127.0.0.1:${port}/__sandbox`,
      PETSTORE_SANDBOX_CONTROL_TOKEN: 'secret-1',
      NO_PROXY: 'example.com,localhost,127.0.0.1,::1',
      MINE: 'kept',
    })
  })

  it('counts refusals by their reason', async () => {
    const { err } = await exec('--limits 1/min', `for (let i = 0; i < 6; i++) await (await call('/pets')).text()`)
    expect(err.split('\n')[0]).toBe(`petstore-sandbox: 6 requests; ${reached('listPets')}; 5 refused (quota-minute 5)`)
    const conduct =
      /^petstore-sandbox: conduct: \d violations \(early-retry \d\), no warnings; on the plan free, no request/m
    expect(err).toMatch(conduct)
  })

  it('logs with --log, including the summary and the findings', async () => {
    const { err } = await exec('--log json --fail-on violation', `await call('/pets'); await stray()`)
    const lines = err.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'ready', records: expect.objectContaining({ pets: 60 }) }),
      expect.objectContaining({ event: 'exchange', operation: 'listPets' }),
      expect.objectContaining({ event: 'exchange', key: 'none' }),
      {
        event: 'summary',
        requests: 2,
        operations: { reached: ['listPets'], missed: missed('listPets') },
        refused: {},
        conduct: { counts: { unauthenticated: 1 }, cheapest: 'free' },
      },
      {
        event: 'fail-on',
        rules: ['unauthenticated'],
        findings: [expect.objectContaining({ rule: 'unauthenticated', space: '' })],
      },
    ])
  })

  it('reads flags, environment and config file as serve does, and passes warnings on', async () => {
    const io = ioWith({ PETSTORE_SANDBOX_LIMITS: '7/min', PETSTORE_SANDBOX_PLANN: 'pro' })
    writeFileSync(join(io.cwd, 'petstore-sandbox.yaml'), 'limits: 9/min\nbase-path: /api/v3\nlog: silent\n')
    const script = `keep([(await call('/pets')).headers.get('x-ratelimit-limit'), new URL(process.env.PETSTORE_BASE_URL).pathname])`
    const { err, found } = await exec('', script, io)
    expect(found).toEqual(['7', '/api/v3'])
    expect(err).toMatch(/^warning: PETSTORE_SANDBOX_PLANN: unknown option, ignored/)
    expect((await exec('--limits 5/min', script, io)).found).toEqual(['5', '/api/v3'])
  })

  it.skipIf(process.platform === 'win32')(
    'ends the command when the sandbox is stopped by its control plane',
    async () => {
      const shutdown = `await fetch(process.env.PETSTORE_SANDBOX_URL + '/shutdown', { method: 'POST' })`
      const script = `setInterval(() => {}, 1000); process.on('SIGTERM', () => { keep('ended'); process.exit(4) }); ${shutdown}`
      const { code, err, found } = await exec('', script)
      expect({ code, found }).toEqual({ code: 4, found: 'ended' })
      const warning = 'The sandbox was stopped through its control plane, and with it the command'
      expect(err.startsWith(`warning: ${warning}\npet`)).toBe(true)
    },
  )

  it('is the sandbox of its folder while the command runs', async () => {
    const io = ioWith()
    const script = `keep([JSON.parse(require('node:fs').readFileSync('.petstore-sandbox/run.json')), process.env])`
    const { found } = await exec('', script, io)
    const [located, { PETSTORE_SANDBOX_URL: controlUrl }] = found as [Record<string, unknown>, Record<string, string>]
    expect(located).toMatchObject({ controlUrl, pid: io.pid })
    expect(readLocation(io.cwd)).toBeUndefined()
  })
})

describe('the command line of exec', () => {
  it('leaves to the command what follows its name, with or without --', async () => {
    const io = ioWith()
    const script = "require('node:fs').writeFileSync('out', JSON.stringify(process.argv.slice(1)))"
    const own = ['--plan', 'gold', '--', '-p', '--debug']
    for (const dashes of [[], ['--']]) {
      expect(await runCli(['exec', '--plan', 'pro', ...dashes, NODE, '-e', script, '--', 'x', ...own], io)).toBe(0)
      expect(JSON.parse(readIn(io, 'out'))).toEqual(['x', ...own])
    }
  })

  it.each([
    ['', 2, /^USAGE: missing required argument 'command'\. See petstore-sandbox exec --help\.\n$/],
    [
      '--plam pro true',
      2,
      /^USAGE: unknown option '--plam'; did you mean --plan\? See petstore-sandbox exec --help\.\n$/,
    ],
    ['--plan gold true', 2, /^INVALID_OPTIONS: --plan "gold"/],
    [
      '--env X={baseUrll} true',
      2,
      /: \{baseUrll\} must be \{baseUrl\}, \{apiKey\} or \{controlUrl\}; did you mean baseUrl\? See /,
    ],
    ['--env 1X=2 true', 2, /'1X=2' is invalid: must be <NAME>=<value>, for example VITE_API_URL=\{baseUrl\}\. /],
    ['--fault listDogs:503 true', 2, /^UNKNOWN_OPERATION: /],
    ['--host 192.0.2.1 --control-token x true', 125, /^HOST_UNAVAILABLE: /],
    ['./no-such-command', 127, /^NO_SUCH_COMMAND: "\.\/no-such-command" was not found\./],
    ['no-such\u001b[2J', 127, /^NO_SUCH_COMMAND: "no-such\\+u001b\[2J" was not found\./],
    ['./plain', 126, /^NOT_EXECUTABLE: "\.\/plain" cannot be run \(EACCES\)\.\n$/],
  ])('with "%s" ends in %i', async (line, code, err) => {
    const io = ioWith()
    writeFileSync(join(io.cwd, 'plain'), 'no program')
    const argv = line.split(' ').filter((word) => word !== '')
    expect(await run(['exec', ...argv], io)).toEqual({ code, out: '', err: expect.stringMatching(err) })
    expect(io.stderr.text).not.toContain('requests')
  })

  it('ends in 125 where the port is taken, and starts nothing', async () => {
    const other = await startSandbox()
    onTestFinished(() => other.close())
    const { code, err, found } = await exec(`--port ${new URL(other.baseUrl).port}`, `keep('started')`)
    expect({ code, found }).toEqual({ code: 125, found: undefined })
    expect(err).toMatch(/^PORT_IN_USE: /)
  })

  it('names the options of serve in its help, and its own defaults', async () => {
    const { out } = await run('exec --help')
    const [, named = ''] = /\nOptions of serve \(see petstore-sandbox serve --help\):\n(.*?)\n\n/s.exec(out) ?? []
    expect(named.split(/,\s+/).map((flag) => flag.trim().replace('-p ', ''))).toEqual(OPTION_NAMES.map(flagName))
    expect(out.replaceAll('\n', ' ')).toContain('in memory, on a free port, with --log silent')
  })
})

describe('conduct in a run of exec', () => {
  const STRAY = `await call('/pets'); await stray(); await stray();`
  const SPACES = `
    const control = (path, method) => fetch(process.env.PETSTORE_SANDBOX_URL + path, { method })
    const wrongIn = (space) =>
      fetch(process.env.PETSTORE_BASE_URL + '/pets?limit=0', { headers: { Authorization: 'Bearer sandbox-pro~' + space } })
`
  const FAILED =
    /^petstore-sandbox: --fail-on failed the run:\n✗ Your client sends no valid key \(unauthenticated\) +2 times\n {2}.*; none; exchanges 2, 3$/m

  it.each([
    ['', '', 0, /^petstore-sandbox: conduct: 2 violations \(unauthenticated 2\), no warnings/m],
    ['--fail-on violation', '', 1, FAILED],
    ['--fail-on warning,early-retry,unauthenticated', '', 1, FAILED],
    ['--fail-on early-retry,warning', '', 0, /^(?![\s\S]*failed the run)/],
    ['--fail-on violation', 'process.exitCode = 4', 4, FAILED],
  ])('%s %s ends with %i', async (flags, end, code, err) =>
    expect(await exec(flags, STRAY + end)).toMatchObject({ code, err: expect.stringMatching(err) }),
  )

  it('fails a run without any traffic with --fail-on, and so does its JUnit report', async () => {
    const io = ioWith()
    const { code, err } = await exec('--fail-on early-retry --report r.xml', '', io)
    expect(code).toBe(1)
    expect(err).toMatch(/--fail-on failed the run:\n {2}no-traffic: no request was received\. .*BASE_URL\?$/m)
    const junit = readIn(io, 'r.xml')
    expect(junit).toMatch(/<failure type="no-traffic" message="no-traffic: no request was received/)
    expect(junitViolations(junit)).toEqual([])
  })

  it.each([
    [
      '--fail-on unautenticated',
      /^INVALID_OPTIONS: --fail-on "unautenticated": .*; did you mean unauthenticated\? See .*\n$/,
    ],
    ['--fail-on=', /^INVALID_OPTIONS: --fail-on "": must be violation/],
    ['--fail-on a,violation,b', /^INVALID_OPTIONS: --fail-on "a": .*\nINVALID_OPTIONS: --fail-on "b": .*\nSee .*\n$/],
    ['--report=', /^INVALID_OPTIONS: --report "": must be a file path\. See petstore-sandbox exec --help\.\n$/],
  ])('does not start the command with %s', async (flags, problem) => {
    const { code, err, found } = await exec(flags, `keep('started')`)
    expect({ code, found }).toEqual({ code: 2, found: undefined })
    expect(err).toMatch(problem)
  })

  it('reports every space, including spaces that tests reset or removed', async () => {
    const io = ioWith()
    const script = `${SPACES}
      await stray(); await control('/reset', 'POST')
      await wrongIn('gone'); await control('/spaces/gone', 'DELETE')
      await wrongIn('gone'); await control('/spaces/gone', 'DELETE')
      await wrongIn('left'); await stray()`
    await exec('--report r.json', script, io)
    const report = JSON.parse(readIn(io, 'r.json'))
    expect(report).toMatchObject({
      ...{ exitCode: 0, requests: 5, refused: {}, spaces: 5, operations: { reached: ['listPets'] } },
      counts: { unauthenticated: 2, 'invalid-request': 3 },
      whatIf: { requests: 3, cheapest: 'free' },
    })
    const spacesOf = (all: readonly { space: string }[]) => all.map(({ space }) => space).sort()
    expect(spacesOf(report.violations)).toEqual(['', '', 'gone', 'gone', 'left'])
    expect(spacesOf(report.keys)).toEqual(['gone', 'gone', 'left'])
  })

  it('is reported once after a reset and its undo', async () => {
    const io = ioWith()
    const script = `${SPACES}
      await stray(); await stray(); await control('/reset', 'POST')
      await stray(); await control('/undo', 'POST'); await stray()
      await wrongIn('gone'); await control('/spaces/gone', 'DELETE'); await control('/undo?space=gone', 'POST')
      await wrongIn('gone')`
    await exec('--report r.json', script, io)
    const counts = { unauthenticated: 4, 'invalid-request': 2 }
    expect(JSON.parse(readIn(io, 'r.json'))).toMatchObject({ requests: 6, counts })
  })

  it('is reported in the format of the file name, whatever the exit code', async () => {
    const io = ioWith()
    const written = async (file: string, end = '', rule = 'violation') => {
      const { code } = await exec(`--report=${file} --fail-on ${rule}`, STRAY + end, io)
      return { code, text: readIn(io, file) }
    }
    const json = await written('of/the-run/r.json', 'process.exitCode = 3')
    expect(json.code).toBe(3)
    expect(JSON.parse(json.text)).toMatchObject({ exitCode: 3, violations: [{ rule: 'unauthenticated', count: 2 }] })
    const junit = await written('r.XML')
    expect(junit.code).toBe(1)
    expect(junit.text.match(/<failure /g)).toHaveLength(1)
    expect(junitViolations(junit.text)).toEqual([])
    const spared = { code: 0, text: expect.not.stringContaining('<failure') }
    expect(await written('s.xml', '', 'early-retry')).toEqual(spared)
    expect((await written('r.txt')).text).toMatch(
      /^✗ Your client sends no valid key \(unauthenticated\) +2 times\n.*; none; exchanges 2, 3\n/,
    )
  })

  it.each([
    ['.', `await call('/pets')`, 1],
    ['plain/r.json', '', 1],
    ['.', 'process.exitCode = 5', 5],
  ])('fails a successful run if its report cannot be written: to %s after %s', async (file, script, code) => {
    const io = ioWith()
    writeFileSync(join(io.cwd, 'plain'), 'no folder')
    const ended = await exec(`--report ${file}`, script, io)
    expect(ended.code).toBe(code)
    const problem =
      /\nCANNOT_WRITE: The report ".*" could not be written \((E[A-Z]+: .*|it is a folder, not a file)\)\.\n$/
    expect(ended.err).toMatch(problem)
  })

  it('is annotated in a GitHub Actions job, and added to the summary of the step', async () => {
    const io = ioWith({ GITHUB_ACTIONS: 'true' })
    writeFileSync(join(io.cwd, 'summary.md'), '# Before\n')
    Object.assign(io.env, { GITHUB_STEP_SUMMARY: join(io.cwd, 'summary.md') })
    const script = `for (let i = 0; i < 3; i++) await (await call('/pets')).text()`
    const { code, err } = await exec('--limits 1/min --fail-on violation', script, io)
    expect(code).toBe(1)
    expect(err).toMatch(/^::error title=early-retry%2C sandbox::GET \/v1\/pets was retried too early\. /m)
    const report =
      /^# Before\n### Conduct towards petstore-sandbox\n\n````text\n✗ Your client retries too early[\s\S]*\n````\n$/
    expect(readIn(io, 'summary.md')).toMatch(report)
  })
})
