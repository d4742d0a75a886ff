import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/api/start.js'
import { runCli } from '../../src/cli/run-cli.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { flagName } from '../../src/options/names.js'
import { OPTION_NAMES } from '../../src/options/table.js'
import { junitViolations } from '../support/junit-schema.js'
import { type TestIo, testIo } from './test-io.js'

const NODE = process.execPath

/** Runs a script in Node as the command of `exec`; `found` is the content of its file `out`. */
async function exec(flags: readonly string[], script: string, io = testIo(environment())) {
  const code = await runCli(['exec', ...flags, '--', NODE, '--input-type=module', '-e', script], io)
  return { code, out: io.stdout.text, err: io.stderr.text, found: foundIn(io) }
}

function environment(env: Readonly<Record<string, string>> = {}) {
  return { env: { PATH: process.env.PATH, ...env } }
}

function foundIn(io: TestIo) {
  return readdirSync(io.cwd).includes('out') ? JSON.parse(readFileSync(join(io.cwd, 'out'), 'utf8')) : undefined
}

const CALL = `const call = (path, init = {}) => fetch(process.env.PETSTORE_BASE_URL + path, {
  ...init, headers: { Authorization: 'Bearer ' + process.env.PETSTORE_API_KEY } });`
const KEEP = `const keep = (value) => require('node:fs').writeFileSync('out', JSON.stringify(value));`
const OPERATIONS = packagedContract().operations.map(({ id }) => id)
const PROLOGUE = `import { createRequire } from 'node:module'; const require = createRequire('/'); ${CALL} ${KEEP}`

/** The operations of the contract but these. */
function missed(...operations: readonly string[]): readonly string[] {
  return OPERATIONS.filter((id) => !operations.includes(id))
}

/** What the summary says of the operations that a command has reached. */
function reached(...operations: readonly string[]): string {
  return `${operations.length} of ${OPERATIONS.length} operations reached (not ${missed(...operations).join(', ')})`
}

describe('exec', () => {
  it('gives the command a sandbox of its own, and summarizes its traffic', async () => {
    const { code, out, err, found } = await exec(
      [],
      `${PROLOGUE}
       const statuses = []
       for (const path of ['/pets', '/pets/1', '/nope']) statuses.push((await call(path)).status)
       keep(statuses)`,
    )
    expect({ code, out, found }).toEqual({ code: 0, out: '', found: [200, 200, 404] })
    expect(err.split('\n')).toEqual([
      `petstore-sandbox: 3 requests; ${reached('listPets', 'getPet')}; none refused`,
      'petstore-sandbox: conduct: 1 violation (undocumented-endpoint 1), 1 warning (deprecated-operation 1); the plan free would have refused none',
      '',
    ])
  })

  it('passes the addresses to the command, and excludes loopback from proxies', async () => {
    const names = ['PETSTORE_BASE_URL', 'PETSTORE_API_KEY', 'PETSTORE_SANDBOX_URL', 'NO_PROXY', 'no_proxy', 'MINE']
    const { found } = await exec(
      [],
      `${PROLOGUE} keep(Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, process.env[name]])))`,
      testIo(environment({ MINE: 'kept', PETSTORE_API_KEY: 'a real one', NO_PROXY: 'example.com' })),
    )
    const [, port] = /^http:\/\/127\.0\.0\.1:(\d+)\/v1$/.exec(found.PETSTORE_BASE_URL) ?? []
    expect(port).not.toBe('4010')
    expect(found).toEqual({
      PETSTORE_BASE_URL: expect.any(String),
      PETSTORE_API_KEY: 'sandbox',
      PETSTORE_SANDBOX_URL: `http://127.0.0.1:${port}/__sandbox`,
      NO_PROXY: 'example.com,localhost,127.0.0.1,::1',
      no_proxy: 'example.com,localhost,127.0.0.1,::1',
      MINE: 'kept',
    })
  })

  it('passes the control token to the command', async () => {
    const { found } = await exec(
      ['--control-token', 'secret-1'],
      `${PROLOGUE} keep(process.env.PETSTORE_SANDBOX_CONTROL_TOKEN)`,
    )
    expect(found).toBe('secret-1')
  })

  it('leaves nothing in the folder', async () => {
    const io = testIo(environment())
    expect((await exec([], `${PROLOGUE} await call('/pets')`, io)).code).toBe(0)
    expect(readdirSync(io.cwd)).toEqual([])
  })

  it('counts refusals by their reason', async () => {
    const { err } = await exec(
      ['--limits', '1/min'],
      `${PROLOGUE} for (let i = 0; i < 6; i++) await (await call('/pets')).text()`,
    )
    expect(err.split('\n')[0]).toBe(`petstore-sandbox: 6 requests; ${reached('listPets')}; 5 refused (quota-minute 5)`)
    expect(err).toMatch(
      /^petstore-sandbox: conduct: \d violations \(early-retry \d\), no warnings; the plan free would/m,
    )
  })

  it('logs with --log, including the summary', async () => {
    const { err } = await exec(['--log', 'json'], `${PROLOGUE} await (await call('/pets')).text()`)
    const lines = err.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'ready', pets: 60 }),
      expect.objectContaining({ event: 'exchange', operation: 'listPets' }),
      {
        event: 'summary',
        requests: 1,
        operations: { reached: ['listPets'], missed: missed('listPets') },
        refused: {},
        conduct: { counts: {}, cheapest: 'free' },
      },
    ])
  })

  it('reads flags, environment and config file as serve does', async () => {
    const io = testIo(environment({ PETSTORE_SANDBOX_LIMITS: '7/min' }))
    writeFileSync(join(io.cwd, 'petstore-sandbox.yaml'), 'limits: 9/min\nbase-path: /api/v3\nlog: silent\n')
    const script = `${PROLOGUE} keep([(await call('/pets')).headers.get('x-ratelimit-limit'), process.env.PETSTORE_BASE_URL])`
    expect((await exec([], script, io)).found).toEqual(['7', expect.stringMatching(/\/api\/v3$/)])
    expect((await exec(['--limits', '5/min'], script, io)).found).toEqual(['5', expect.stringMatching(/\/api\/v3$/)])
  })

  it('passes warnings on while the command runs', async () => {
    const io = testIo(environment({ PETSTORE_SANDBOX_PLANN: 'pro' }))
    expect((await exec([], '', io)).err).toMatch(/^warning: PETSTORE_SANDBOX_PLANN: unknown option, ignored/)
  })

  it('keeps the command running when the sandbox is stopped by its control plane', async () => {
    const { code, err, found } = await exec(
      [],
      `${PROLOGUE}
       const { ok } = await fetch(process.env.PETSTORE_SANDBOX_URL + '/shutdown', { method: 'POST' })
       keep(ok)
       process.exitCode = 4`,
    )
    expect({ code, found }).toEqual({ code: 4, found: true })
    expect(err).toMatch(
      /^warning: The sandbox was stopped through its control plane; the command keeps running without it\npet/,
    )
  })
})

describe('the command line of exec', () => {
  it('leaves to the command what follows its name, with or without --', async () => {
    const io = testIo(environment())
    const script = "require('node:fs').writeFileSync('out', JSON.stringify(process.argv.slice(1)))"
    const own = ['--plan', 'gold', '--', '-p', '--debug']
    for (const dashes of [[], ['--']]) {
      expect(await runCli(['exec', '--plan', 'pro', ...dashes, NODE, '-e', script, '--', 'x', ...own], io)).toBe(0)
      expect(foundIn(io)).toEqual(['x', ...own])
    }
  })

  it.each([
    [[], 2, /^USAGE: missing required argument 'command'\. See petstore-sandbox exec --help\.\n$/],
    [
      ['--plam', 'pro', 'true'],
      2,
      /^USAGE: unknown option '--plam'; did you mean --plan\? See petstore-sandbox exec --help\.\n$/,
    ],
    [['--plan', 'gold', 'true'], 2, /^INVALID_OPTIONS: --plan "gold"/],
    [
      ['--env', 'X={baseUrll}', 'true'],
      2,
      /^USAGE: option '--env <name=value>' argument 'X=\{baseUrll\}' is invalid: \{baseUrll\} must be \{baseUrl\}, \{apiKey\} or \{controlUrl\}; did you mean baseUrl\? See /,
    ],
    [
      ['--env', '1X=2', 'true'],
      2,
      /^USAGE: option '--env <name=value>' argument '1X=2' is invalid: must be <NAME>=<value>, for example VITE_API_URL=\{baseUrl\}\. /,
    ],
    [['--fault', 'listDogs:503', 'true'], 2, /^UNKNOWN_OPERATION: /],
    [['--host', '192.0.2.1', '--control-token', 'x', 'true'], 125, /^HOST_UNAVAILABLE: /],
    [['./no-such-command'], 127, /^NO_SUCH_COMMAND: "\.\/no-such-command" was not found\./],
    [[''], 127, /^NO_SUCH_COMMAND: "" was not found\./],
    [['no-such\u001b[2J'], 127, /^NO_SUCH_COMMAND: "no-such\\+u001b\[2J" was not found\./],
  ])('with %j ends in %i', async (argv, code, err) => {
    const io = testIo(environment())
    expect(await runCli(['exec', ...argv], io)).toBe(code)
    expect(io.stdout.text).toBe('')
    expect(io.stderr.text).toMatch(err)
    expect(io.stderr.text).not.toContain('requests')
  })

  it('exits with 126 if the command cannot be run', async () => {
    const io = testIo(environment())
    writeFileSync(join(io.cwd, 'plain'), 'no program')
    expect(await runCli(['exec', './plain'], io)).toBe(126)
    expect(io.stderr.text).toBe('NOT_EXECUTABLE: "./plain" cannot be run (EACCES).\n')
  })

  it('ends in 125 where the port is taken, and starts nothing', async () => {
    const other = await startSandbox()
    onTestFinished(() => other.close())
    const io = testIo(environment())
    const { port } = new URL(other.baseUrl)
    const { code, err, found } = await exec(['--port', port], `${PROLOGUE} keep('started')`, io)
    expect({ code, found }).toEqual({ code: 125, found: undefined })
    expect(err).toMatch(/^PORT_IN_USE: /)
  })

  it('names the options of serve in its help, and its own defaults, in 80 columns', async () => {
    const io = testIo()
    expect(await runCli(['exec', '--help'], io)).toBe(0)
    const [, named = ''] =
      /\nOptions of serve \(see petstore-sandbox serve --help\):\n(.*?)\n\n/s.exec(io.stdout.text) ?? []
    expect(named.split(/,\s+/).map((flag) => flag.trim().replace('-p ', ''))).toEqual(OPTION_NAMES.map(flagName))
    expect(io.stdout.text.replaceAll('\n', ' ')).toContain('in memory, on a free port, with --log silent')
    expect(io.stdout.text.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})

describe('conduct in a run of exec', () => {
  const WITHOUT_KEY = `${PROLOGUE} const stray = (key) => fetch(process.env.PETSTORE_BASE_URL + '/pets', { headers: key });`
  const STRAY = `${WITHOUT_KEY} await call('/pets'); await stray({}); await stray({});`
  const SPACES = `${PROLOGUE}
    const control = (path, method) => fetch(process.env.PETSTORE_SANDBOX_URL + path, { method })
    const stray = () => fetch(process.env.PETSTORE_BASE_URL + '/pets')
    const wrongIn = (space) =>
      fetch(process.env.PETSTORE_BASE_URL + '/pets?limit=0', { headers: { Authorization: 'Bearer sandbox-pro~' + space } })`

  it('is reported when the run is over', async () => {
    const { code, err } = await exec([], STRAY)
    expect(code).toBe(0)
    expect(err).toMatch(/^petstore-sandbox: conduct: 2 violations \(unauthenticated 2\), no warnings/m)
  })

  it('does not matter unless requested', async () => {
    expect((await exec([], '')).err).not.toContain('conduct')
  })

  it.each([['unauthenticated'], ['violation'], ['warning,early-retry, unauthenticated']])(
    'fails a successful run with --fail-on %s, and prints the findings',
    async (rules) => {
      const { code, err } = await exec(['--fail-on', rules], STRAY)
      expect(code).toBe(1)
      expect(err).toMatch(
        /^petstore-sandbox: --fail-on failed the run:\n {2}unauthenticated, none.*2 times; exchanges 2, 3\)$/m,
      )
    },
  )

  it.each([['early-retry'], ['warning'], ['no-traffic']])(
    'fails a run without any traffic with --fail-on %s, and so does its JUnit report',
    async (rules) => {
      const io = testIo(environment())
      const { code, err } = await exec(['--fail-on', rules, '--report', 'r.xml'], '', io)
      expect(code).toBe(1)
      expect(err).toMatch(
        /^petstore-sandbox: --fail-on failed the run:\n {2}no-traffic: no request was received\. .*BASE_URL\?$/m,
      )
      const junit = readFileSync(join(io.cwd, 'r.xml'), 'utf8')
      expect(junit).toMatch(/<failure type="no-traffic" message="no-traffic: no request was received/)
      expect(junitViolations(junit)).toEqual([])
      expect((await exec(['--log', 'json', '--fail-on', rules], '')).err).toContain('"rules":["no-traffic"]')
    },
  )

  it('passes a run that broke other rules only', async () => {
    const { code, err } = await exec(['--fail-on', 'early-retry,warning'], STRAY)
    expect(code).toBe(0)
    expect(err).not.toContain('failed the run')
  })

  it('keeps the exit code of a failing command', async () => {
    const { code, err } = await exec(['--fail-on', 'violation'], `${STRAY} process.exitCode = 4`)
    expect(code).toBe(4)
    expect(err).toContain('--fail-on failed the run')
  })

  it('is reported as JSON', async () => {
    const { err } = await exec(['--log', 'json', '--fail-on', 'violation'], STRAY)
    const [summary, failOn] = err
      .trimEnd()
      .split('\n')
      .slice(-2)
      .map((line) => JSON.parse(line))
    expect(summary).toMatchObject({ event: 'summary', conduct: { counts: { unauthenticated: 2 } } })
    expect(failOn).toMatchObject({
      event: 'fail-on',
      rules: ['unauthenticated'],
      findings: [{ rule: 'unauthenticated', space: '' }],
    })
  })

  it.each([
    [
      ['--fail-on', 'unautenticated'],
      /^INVALID_OPTIONS: --fail-on "unautenticated": must be violation, warning, no-traffic, drift, early-.*; did you mean unauthenticated\? See petstore-sandbox exec --help\.\n$/,
    ],
    [['--fail-on', ''], /^INVALID_OPTIONS: --fail-on "": must be violation/],
    [
      ['--fail-on', 'a,violation,b'],
      /^INVALID_OPTIONS: --fail-on "a": .*\nINVALID_OPTIONS: --fail-on "b": .*\nSee petstore-sandbox exec --help\.\n$/,
    ],
    [['--report', ''], /^INVALID_OPTIONS: --report "": must be a file path\. See petstore-sandbox exec --help\.\n$/],
  ])('does not start the command with %j', async (flags, problem) => {
    const { code, err, found } = await exec(flags, `${PROLOGUE} keep('started')`)
    expect({ code, found }).toEqual({ code: 2, found: undefined })
    expect(err).toMatch(problem)
  })

  it('reports every space, including spaces that tests reset or removed', async () => {
    const io = testIo(environment())
    await exec(
      ['--report', 'r.json'],
      `${SPACES}
       await stray(); await control('/reset', 'POST')
       await wrongIn('gone'); await control('/spaces/gone', 'DELETE')
       await wrongIn('gone'); await control('/spaces/gone', 'DELETE')
       await wrongIn('left'); await stray()`,
      io,
    )
    const report = JSON.parse(readFileSync(join(io.cwd, 'r.json'), 'utf8'))
    expect(report).toMatchObject({ exitCode: 0, requests: 5, refused: {}, operations: { reached: ['listPets'] } })
    expect(report).toMatchObject({ spaces: 5, counts: { unauthenticated: 2, 'invalid-request': 3 } })
    const places = report.violations.map(({ rule, key, space }: Record<string, string>) => [rule, key, space].join(' '))
    expect(places.sort()).toEqual([
      'invalid-request sandbox-pro gone',
      'invalid-request sandbox-pro gone',
      'invalid-request sandbox-pro left',
      'unauthenticated none ',
      'unauthenticated none ',
    ])
    expect(report.whatIf).toMatchObject({ requests: 3, cheapest: 'free' })
    expect(report.keys.map(({ space }: { space: string }) => space)).toEqual(['gone', 'gone', 'left'])
  })

  it('is reported once after a reset and its undo', async () => {
    const io = testIo(environment())
    await exec(
      ['--report', 'r.json'],
      `${SPACES}
       await stray(); await stray(); await control('/reset', 'POST')
       await stray(); await control('/undo', 'POST'); await stray()
       await wrongIn('gone'); await control('/spaces/gone', 'DELETE'); await control('/undo?space=gone', 'POST')
       await wrongIn('gone')`,
      io,
    )
    const report = JSON.parse(readFileSync(join(io.cwd, 'r.json'), 'utf8'))
    expect(report).toMatchObject({ requests: 6, counts: { unauthenticated: 4, 'invalid-request': 2 } })
  })

  it('is reported in the format of the file name, whatever the exit code', async () => {
    const io = testIo(environment())
    const written = async (file: string, script: string) => {
      const { code } = await exec(['--report', file, '--fail-on', 'violation'], script, io)
      return { code, text: readFileSync(join(io.cwd, file), 'utf8') }
    }
    const json = await written('of/the run/r.json', `${STRAY} process.exitCode = 3`)
    expect(json.code).toBe(3)
    expect(JSON.parse(json.text)).toMatchObject({ exitCode: 3, violations: [{ rule: 'unauthenticated', count: 2 }] })
    const junit = await written('r.XML', STRAY)
    expect(junit.code).toBe(1)
    expect(junit.text.match(/<failure /g)).toHaveLength(1)
    expect(junitViolations(junit.text)).toEqual([])
    const spared = await exec(['--report', 's.xml', '--fail-on', 'early-retry'], STRAY, io)
    expect(spared.code).toBe(0)
    expect(readFileSync(join(io.cwd, 's.xml'), 'utf8')).not.toContain('<failure')
    expect((await written('r.txt', STRAY)).text).toMatch(/^✗ unauthenticated, none.*\(2 times; exchanges 2, 3\)\n/)
  })

  it('fails a successful run if its report cannot be written', async () => {
    for (const file of ['.', '/proc/none/r.json', 'plain/r.json']) {
      const io = testIo(environment())
      writeFileSync(join(io.cwd, 'plain'), 'no folder')
      const { code, err } = await exec(['--report', file], `${PROLOGUE} await call('/pets')`, io)
      expect(code).toBe(1)
      expect(err).toMatch(
        /\nCANNOT_WRITE: The report ".*" could not be written \((E[A-Z]+: .*|it is a folder, not a file)\)\.\n$/,
      )
      expect((await exec(['--report', file], 'process.exitCode = 5', io)).code).toBe(5)
    }
  })
})
