import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly runs: {
    readonly steps: readonly { name: string; run?: string; env?: Readonly<Record<string, string | number>> }[]
  }
}

const action: Action = parse(readFileSync(join(packageDirectory, 'action.yml'), 'utf8'))

/** A job on a simulated runner: the environment that GitHub gives to the shell steps of an action. */
function job(inputs: Readonly<Record<string, string>>, folder = temporaryFolder()) {
  if (installed !== '') {
    mkdirSync(join(folder, 'petstore-sandbox'))
    symlinkSync(installed, join(folder, 'petstore-sandbox/node_modules'))
  }
  const files = Object.fromEntries(
    ['GITHUB_ENV', 'GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'].map((name) => [name, join(folder, name)]),
  )
  for (const file of Object.values(files)) writeFileSync(file, '')
  // Bash of macOS is 3.2.
  const old = join(folder, 'bash-3.2')
  writeFileSync(old, 'enable -n mapfile readarray\n')
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const pairs = (name: string): Readonly<Record<string, string>> => {
    const lines = readFileSync(String(files[name]), 'utf8').split('\n')
    return Object.fromEntries(lines.flatMap((line) => (line === '' ? [] : [line.split(/=(.*)/, 2)])))
  }
  function run(name: string, overrides: Readonly<Record<string, string>> = {}) {
    const step = action.runs.steps.find((one) => one.name === name)
    const given = Object.entries(step?.env ?? {}).map(([variable, expression]) => {
      const [, input] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(String(expression)) ?? []
      return [variable, input === undefined ? String(expression) : (inputs[input] ?? action.inputs[input]?.default)]
    })
    return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 99'], {
      cwd: workspace,
      encoding: 'utf8',
      env: {
        ...{ PATH: process.env.PATH, HOME: process.env.HOME, npm_config_offline: 'true' },
        ...{ RUNNER_TEMP: folder, GITHUB_ACTIONS: 'true', GITHUB_ACTION_PATH: packageDirectory },
        ...{ ...files, BASH_ENV: old },
        ...pairs('GITHUB_ENV'),
        ...Object.fromEntries(given),
        ...overrides,
      },
    })
  }
  return {
    folder,
    run,
    outputs: () => pairs('GITHUB_OUTPUT'),
    summary: () => readFileSync(String(files.GITHUB_STEP_SUMMARY), 'utf8'),
  }
}

/** The packages that the step Install has installed, for every test. */
let installed = ''
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'package-'))
  spawnSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: packageDirectory })
  const { run } = job({ package: join(folder, String(readdirSync(folder)[0])) }, folder)
  expect(run('Install')).toMatchObject({ status: 0 })
  installed = join(folder, 'petstore-sandbox/node_modules')
  return () => rmSync(folder, { recursive: true })
})

it('the action starts a sandbox for the steps that follow, and keeps how they behaved', async () => {
  const { folder, run, outputs, summary } = job({ args: '--port 0 --in-memory --plan pro' })
  const started = run('Start')
  expect(started).toMatchObject({ status: 0, stderr: '' })
  const { 'base-url': baseUrl = '', 'control-url': controlUrl = '' } = outputs()
  onTestFinished(async () => void (await fetch(`${controlUrl}/stop`, { method: 'POST' }).catch(() => {})))
  expect(started.stdout).toBe(`petstore-sandbox is ready on ${baseUrl}\n`)

  const answer = await fetch(`${baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
  expect(answer.headers.get('x-ratelimit-limit')).toBe('300')
  await fetch(`${baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox~checkout' } })
  await fetch(`${baseUrl}/nowhere`, { headers: { authorization: 'Bearer sandbox~checkout' } })

  const warning = /^::warning title=undocumented-endpoint%2C sandbox~checkout::GET \/v1\/nowhere .*\n$/
  expect(run('Stop')).toMatchObject({ status: 0, stderr: expect.stringMatching(warning) })
  const report = String(outputs().report)
  expect(readdirSync(report).sort()).toEqual(['conduct-checkout.json', 'conduct.json', 'conduct.txt', 'log.jsonl'])
  const checkout = { space: 'checkout', requests: 2, violations: [{ rule: 'undocumented-endpoint' }] }
  expect(JSON.parse(readFileSync(join(report, 'conduct-checkout.json'), 'utf8'))).toMatchObject(checkout)
  expect(summary()).toMatch(/^### Conduct[\s\S]*undocumented-endpoint[\s\S]*````\n$/)
  await expect(fetch(baseUrl)).rejects.toThrow()
  expect(existsSync(join(folder, 'workspace/.petstore-sandbox/run.json'))).toBe(false)
})

it('the action fails if clients break a fail-on rule, and writes the report to the given file', async () => {
  const awkward = 'reports of $(whoami)/it\'s "all" *.xml'
  const args = '\n  --port 0\n  --in-memory\n\n  --storm 1,retry-after=60s\n  --fixtures my fixtures $(whoami) *\n'
  const { folder, run, outputs } = job({ args, 'fail-on': 'early-retry', report: awkward })
  const fixtures = join(folder, 'workspace/my fixtures $(whoami) *')
  cpSync(join(packageDirectory, 'fixtures'), fixtures, { recursive: true })
  expect(run('Start')).toMatchObject({ status: 0, stderr: '' })
  const { 'base-url': baseUrl = '' } = outputs()
  for (let i = 0; i < 3; i++)
    await (await fetch(`${baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).text()
  const error = expect.stringContaining('::error title=early-retry%2C sandbox::')
  expect(run('Stop')).toMatchObject({ status: 1, stderr: error })
  expect(readFileSync(join(folder, 'workspace', awkward), 'utf8')).toMatch(
    /<testcase classname="sandbox" name="early-retry" time="0"><failure/,
  )
})

it('the action keeps the log of a sandbox that has crashed, and fails', async () => {
  const { run, outputs } = job({})
  expect(run('Start')).toMatchObject({ status: 0, stderr: '' })
  const { 'control-url': controlUrl = '' } = outputs()
  const { pid } = (await (await fetch(`${controlUrl}/health`)).json()) as { readonly pid: number }
  process.kill(pid, 'SIGKILL')
  await expect
    .poll(() =>
      fetch(controlUrl).then(
        () => '',
        () => 'gone',
      ),
    )
    .toBe('gone')
  const { status, stderr } = run('Stop')
  expect({ status, stderr }).toEqual({
    status: 7,
    stderr: expect.stringMatching(/^(?:\{"error":\{"code":"NO_SANDBOX",.*\n)+$/),
  })
  expect(readFileSync(join(String(outputs().report), 'log.jsonl'), 'utf8')).toContain('"event":"ready"')
})

it('the action reads quotes in one line of flags, and states the number of senders', async () => {
  const name = 'my fixtures $(whoami) * "x"'
  const { folder, run, outputs } = job({ args: `--port 0 --in-memory --fixtures '${name}'`, senders: '6' })
  const fixtures = join(folder, 'workspace', name)
  cpSync(join(packageDirectory, 'fixtures'), fixtures, { recursive: true })
  expect(run('Start')).toMatchObject({ status: 0, stderr: '' })
  const { 'control-url': controlUrl = '' } = outputs()
  expect(await (await fetch(`${controlUrl}/settings`)).json()).toMatchObject({ senders: 6 })
  expect(run('Stop')).toMatchObject({ status: 0 })
})

it.each([
  [`--port 0 --fixtures 'mine`, 'unmatched single quote'],
  ['--port 0 --plan gold', '"gold": must be free'],
])('the action fails with what was said if it cannot start: %s', (args, message) => {
  const { run, outputs } = job({ args })
  expect(run('Start')).toMatchObject({ status: 1, stderr: expect.stringContaining(message) })
  expect(outputs()).toEqual({})
})

it('the action fails if the sandbox is not ready in time, and stops it', () => {
  const { folder, run } = job({})
  const modules = join(folder, 'petstore-sandbox/node_modules')
  rmSync(modules)
  mkdirSync(join(modules, '.bin'), { recursive: true })
  const command = ['#!/bin/sh', `echo $$ >'${folder}/pid'`, 'exec sleep 120', ''].join('\n')
  writeFileSync(join(modules, '.bin/petstore-sandbox'), command, { mode: 0o755 })
  // The shell counts the seconds of its clock that have begun: less than one is too short to start a command.
  expect(run('Start', { START_TIMEOUT_S: '3' })).toMatchObject({
    status: 1,
    stderr: 'petstore-sandbox was not ready within 3 s\n',
  })
  expect(() => process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 0)).toThrow('ESRCH')
})
