import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/run-cli.js'
import { runBuilt } from './built.js'
import { everyCommand, helpOf } from './every-command.js'
import { control, run, sandboxWith, testIo } from './test-io.js'

describe('the help of every command', () => {
  it('starts with one sentence, then examples, then arguments and options', async () => {
    const all = await everyCommand()
    expect(all.length).toBeGreaterThan(50)
    for (const path of all) {
      const [first = '', ...rest] = (await helpOf(path)).split('\n\n')
      expect(first.length, path.join(' ')).toBeLessThan(80)
      const examples = rest.findIndex((part) => part.startsWith(`Examples:\n  petstore-sandbox ${path.join(' ')}`))
      const usage = rest.findIndex((part) => part.startsWith(`Usage: petstore-sandbox`))
      expect(examples, path.join(' ')).not.toBe(-1)
      expect(usage, path.join(' ')).toBe(examples + 1)
    }
  })

  it('shows examples with flags that the command takes, or those around it do', async () => {
    const helps = await Promise.all((await everyCommand()).map(async (path) => ({ path, help: await helpOf(path) })))
    for (const { path, help } of helps) {
      const [, examples = ''] = /\nExamples:\n(.*?)\n\n/s.exec(help) ?? []
      // A command of another program follows `--` or `npx`.
      const flags = examples.replace(/ (?:-- |npx ).*/g, '').match(/(?<= )--[a-z][a-z-]+/g) ?? []
      const around = helps.filter((other) => other.path.every((word, at) => word === (path[at] ?? word)))
      const known = new Set(around.flatMap((other) => other.help.replace(examples, '').match(/--[a-z][a-z-]+/g) ?? []))
      const unknown = flags.filter((flag) => !known.has(flag))
      expect(unknown, path.join(' ')).toEqual([])
    }
  })

  it('fits a terminal of 80 columns', async () => {
    for (const path of await everyCommand()) {
      const long = (await helpOf(path)).split('\n').filter((line) => line.length > 80)
      expect(long, path.join(' ')).toEqual([])
    }
  })

  it('explains every option in one place only', async () => {
    const explained = (text: string) =>
      new Set([...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+).* {2,}\S/gm)].map(([, flag]) => flag))
    for (const [whole, ...path] of [
      ['serve', 'exec'],
      ['control', 'control', 'clock', 'advance'],
      ['control', 'control', 'requests'],
      ['call', 'call', 'listPets'],
    ] as const) {
      const there = explained(await helpOf([whole]))
      there.delete('--help')
      there.delete('--debug')
      expect([...explained(await helpOf(path))].filter((flag) => there.has(flag))).toEqual([])
    }
  })

  it('is the same with the help command at any depth', async () => {
    for (const path of [['serve'], ['control', 'clock', 'advance'], ['call', 'listPets'], ['target', 'set']]) {
      expect(await run(['help', ...path])).toEqual({ code: 0, out: await helpOf(path), err: '' })
    }
  })

  it('loads no command code for the help', async () => {
    // A third of a millisecond to some ten each. Measured instead of a time, which depends on the machine.
    const heavy = 'crypto http2 https tls zlib worker_threads perf_hooks internal/deps/undici/undici'.split(' ')
    const tell = 'data:text/javascript,process.on("exit",()=>console.error(process.moduleLoadList.join()))'
    for (const { name } of COMMANDS) {
      const { err } = await runBuilt([name, '--help'], { node: ['--import', tell] })
      const loaded = new Set(err.trim().split(','))
      expect(loaded, name).toContain('NativeModule events')
      const those = heavy.filter((one) => loaded.has(`NativeModule ${one}`))
      expect(those, name).toEqual([])
    }
  })
})

it.each([
  ['clock', 'show'],
  ['settings', 'show'],
  ['keys', 'list'],
  ['storm', 'show'],
  ['fault', 'list'],
  ['faults', 'list'],
  ['pets', 'list'],
  ['snapshot', 'list'],
  ['snapshots', 'list'],
  ['spaces', 'list'],
])('control %s without a verb runs its %s', async (group, verb) => {
  const sandbox = await sandboxWith()
  expect(await control(sandbox, group)).toEqual({ ...(await control(sandbox, `${group} ${verb}`)), code: 0 })
  expect(await control(sandbox, `${group} -o json`)).toEqual(await control(sandbox, `${group} ${verb} --json`))
})

const MINE = { name: 'mine', baseUrl: 'https://mine.example/v1', apiKeyFile: null }
const WRITTEN = { written: expect.arrayContaining(['petstore-sandbox.yaml']), left: [] }
it.each([
  ['target', expect.arrayContaining([expect.objectContaining({ name: 'staging' })])],
  [`target set mine --base-url ${MINE.baseUrl}`, { ...MINE, next: ['npx petstore-sandbox verify -t mine'] }],
  ['target remove staging', { removed: null }],
  ['init', { ...WRITTEN, next: ['npx petstore-sandbox serve'] }],
  ['call --list', expect.arrayContaining([expect.objectContaining({ operation: 'listPets' })])],
  ['conform --list', expect.arrayContaining([expect.objectContaining({ name: 'lost-response' })])],
])('%s -o json prints only JSON', async (line, value) => {
  const io = testIo()
  const { code, out } = await run(`${line} -o json`, { ...io, env: { HOME: io.cwd } })
  expect({ code, value: JSON.parse(out) }).toEqual({ code: 0, value })
})
