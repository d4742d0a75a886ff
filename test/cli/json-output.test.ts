import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/api/start.js'
import { runCli } from '../../src/cli/run-cli.js'
import { readDocument, sectionOf, tablesOf } from '../support/documents.js'
import { testIo } from './test-io.js'

const [RESULTS = []] = tablesOf(sectionOf(readDocument('docs/cli.md'), 'JSON output'))

/** The fields that docs/cli.md lists before the first colon or full stop. */
function documentedFields(command: string): readonly string[] {
  const [, result = ''] = RESULTS.find(([name]) => name === `\`${command}\``) ?? []
  return [...(/^[^:.]*/.exec(result)?.[0] ?? '').matchAll(/`(\w+)`/g)].map(([, field = '']) => field)
}

async function run(argv: readonly string[], env = {}) {
  const io = testIo({ env: { PATH: process.env.PATH, ...env } })
  writeFileSync(join(io.cwd, 'log'), '127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET /v1/pets HTTP/1.1" 200 2\n')
  const code = await runCli(argv, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

describe('a result in JSON', () => {
  let sandbox: Awaited<ReturnType<typeof startSandbox>>
  beforeAll(async () => {
    sandbox = await startSandbox()
    return () => sandbox.close()
  })

  it.each([
    [
      'exec',
      ['--', process.execPath, '-e', 'process.exit(3)'],
      3,
      /^npx petstore-sandbox exec --har exchanges\.har -- .* -e 'process\.exit\(3\)'$/,
    ],
    [
      'conform',
      ['--scenario', 'error-503', '--', 'false'],
      1,
      /^npx petstore-sandbox conform --scenario error-503 -- false$/,
    ],
    ['verify', ['--base-url', 'SANDBOX', '--key', 'sandbox-pro'], 0, undefined],
    ['simulate', ['log'], 0, /^npx petstore-sandbox serve --plan free$/],
  ] as const)(
    '%s has the documented fields, and the commands that would help come last',
    async (name, args, code, next) => {
      const given = args.map((word) => (word === 'SANDBOX' ? sandbox.baseUrl : word))
      const done = await run([name, '-o', 'json', ...given])
      expect(done).toMatchObject({ code })
      const result = JSON.parse(done.out)
      const fields = documentedFields(name)
      expect(Object.keys(result)).toEqual([...fields, ...(next === undefined ? [] : ['next'])])
      expect(result).toMatchObject({ format: 1, ...(next && { next: [expect.stringMatching(next)] }) })
    },
  )

  it('names the requests of findings', async () => {
    await fetch(`${sandbox.baseUrl}/nowhere`, { headers: { Authorization: `Bearer ${sandbox.space('a').key()}` } })
    const { out } = await run(['control', '--space', 'a', 'conduct', '-o', 'json'], {
      PETSTORE_SANDBOX_URL: sandbox.controlUrl,
    })
    expect(JSON.parse(out).next).toEqual(['npx petstore-sandbox control --space a requests show 1'])
  })
})

describe('an error in JSON', () => {
  it.each([
    [['exec', '-o', 'json', '--plan', 'gold', 'true'], 'INVALID_OPTIONS', '--plan', ['exec --help']],
    [['exec', '--json', '--', 'no-such-command'], 'NO_SUCH_COMMAND', 'petstore-sandbox exec', undefined],
    [['control', 'clock', 'advance', 'soon', '--json'], 'USAGE', 'duration', ['control clock advance --help']],
    [['control', 'stop', '--json'], 'NO_SANDBOX', 'petstore-sandbox control stop', ['serve']],
    [
      ['target', 'use', 'nope', '-ojson'],
      'UNKNOWN_TARGET',
      'petstore-sandbox target use',
      ['target list', 'target set'],
    ],
    [['conform', '--output=json'], 'INVALID_OPTIONS', 'petstore-sandbox conform', ['conform --help']],
    [['nope', '--json'], 'USAGE', 'nope', ['--help']],
  ])('%j has code, message, place, fix and commands', async (argv, code, place, next) => {
    const { out, err } = await run(argv)
    expect(out.startsWith('{') || out === '').toBe(true)
    const [line = ''] = err.split('\n')
    expect(JSON.parse(line)).toEqual({
      error: { code, message: expect.stringMatching(/../), place, fix: expect.stringMatching(/\.$/) },
      ...(next === undefined ? {} : { next: next.map((words) => `npx petstore-sandbox ${words}`) }),
    })
  })

  it('is plain if only the command of exec has -o json', async () => {
    const { err } = await run(['exec', 'no-such-command', '-o', 'json'])
    expect(err).toMatch(/^NO_SUCH_COMMAND: /)
  })
})
