import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/run-cli.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { startProgram } from './built.js'
import { everyCommand, helpOf } from './every-command.js'
import { control, run, sandboxWith, testIo } from './test-io.js'

describe('the help of every command', () => {
  it('starts with one sentence, then examples with known flags, then arguments and options, in 80 columns', async () => {
    const helps = await Promise.all((await everyCommand()).map(async (path) => ({ path, help: await helpOf(path) })))
    expect(helps.length).toBeGreaterThan(50)
    for (const { path, help } of helps) {
      const [first = '', ...rest] = help.split('\n\n')
      expect(first.length, path.join(' ')).toBeLessThan(80)
      const [examples = '', usage] = rest.slice(rest.findIndex((part) => part.startsWith('Examples:\n')))
      expect(examples, path.join(' ')).toContain(`Examples:\n  petstore-sandbox ${path.join(' ')}`)
      expect(usage, path.join(' ')).toMatch(/^Usage: petstore-sandbox/)
      // A command of another program follows `--` or `npx`.
      const flags = examples.replace(/ (?:-- |npx ).*/g, '').match(/(?<= )--[a-z][a-z-]+/g) ?? []
      const around = helps.filter((other) => other.path.every((word, at) => word === (path[at] ?? word)))
      const known = new Set(around.flatMap((other) => other.help.replace(examples, '').match(/--[a-z][a-z-]+/g) ?? []))
      const unknown = flags.filter((flag) => !known.has(flag))
      expect(unknown, path.join(' ')).toEqual([])
      const long = help.split('\n').filter((line) => line.length > 80)
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
    const script = `
      const { main } = await import(${JSON.stringify(pathToFileURL(join(packageDirectory, 'dist/cli.js')))})
      process.exit = () => {}
      for (const name of ${JSON.stringify(COMMANDS.map(({ name }) => name))}) {
        process.argv.splice(1, Infinity, 'petstore-sandbox', name, '--help')
        await main()
      }
      console.error(process.moduleLoadList.join())`
    const argv = ['--input-type=module', '-e', script]
    const { ended, stderr, stdout } = startProgram(process.execPath, argv, { cwd: temporaryFolder(), env: {} })
    await ended
    expect(stdout.text.match(/^Usage: /gm)).toHaveLength(COMMANDS.length)
    const loaded = new Set(stderr.text.trim().split(','))
    expect(loaded).toContain('NativeModule events')
    expect(heavy.filter((one) => loaded.has(`NativeModule ${one}`))).toEqual([])
  })
})

it('control with a group without a verb shows or lists it', async () => {
  const sandbox = await sandboxWith()
  for (const [verb, groups] of Object.entries({
    show: ['clock', 'settings', 'storm'],
    list: ['keys', 'fault', 'faults', 'snapshot', 'snapshots', 'spaces'],
    resources: ['records'],
  }))
    for (const group of groups) {
      expect(await control(sandbox, group)).toEqual({ ...(await control(sandbox, `${group} ${verb}`)), code: 0 })
      expect(await control(sandbox, `${group} -o json`)).toEqual(await control(sandbox, `${group} ${verb} --json`))
    }
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
