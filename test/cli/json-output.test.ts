import { describe, expect, it } from 'vitest'
import { readDocument, sectionOf, tablesOf } from '../support/documents.js'
import { controlJson, get, run, sandboxWith, testIo } from './test-io.js'

const [RESULTS = []] = tablesOf(sectionOf(readDocument('docs/cli.md'), 'JSON output'))

/** The fields that docs/cli.md lists before the first colon or full stop. */
function documentedFields(command: string): readonly string[] {
  const [, result = ''] = RESULTS.find(([name]) => name === `\`${command}\``) ?? []
  return [...(/^[^:.]*/.exec(result)?.[0] ?? '').matchAll(/`(\w+)`/g)].map(([, field = '']) => field)
}

function runAlone(argv: readonly string[]) {
  return run(argv, testIo({ env: { PATH: process.env.PATH } }))
}

describe('a result in JSON', () => {
  const EXEC = /^npx petstore-sandbox exec --har exchanges\.har -- .* -e 'process\.exit\(3\)'$/
  const CONFORM = /^npx petstore-sandbox conform --scenario error-503 -- false$/

  it.each([
    ['exec', ['--', process.execPath, '-e', 'process.exit(3)'], 3, EXEC],
    ['conform', ['--scenario', 'error-503', '--', 'false'], 1, CONFORM],
    ['verify', ['--key', 'sandbox-pro', '--base-url'], 0, undefined],
  ] as const)('%s has the documented fields, then commands that help', async (name, args, code, next) => {
    const { baseUrl } = await sandboxWith()
    const done = await runAlone([name, '-o', 'json', ...args, ...(name === 'verify' ? [baseUrl] : [])])
    expect(done.code).toBe(code)
    const result = JSON.parse(done.out)
    expect(Object.keys(result)).toEqual([...documentedFields(name), ...(next === undefined ? [] : ['next'])])
    expect(result).toMatchObject({ format: 1, ...(next && { next: [expect.stringMatching(next)] }) })
  })

  it('names the requests of findings', async () => {
    const sandbox = await sandboxWith()
    await get(sandbox, '/nowhere', sandbox.space('a').key())
    const { next } = await controlJson(sandbox, '--space a conduct')
    expect(next).toEqual(['npx petstore-sandbox control --space a requests show 1'])
  })
})

describe('an error in JSON', () => {
  it.each([
    ['exec --json -- no-such-command', 'NO_SUCH_COMMAND', 'petstore-sandbox exec', undefined],
    ['control clock advance soon --json', 'USAGE', 'duration', ['control clock advance --help']],
    ['control stop --json', 'NO_SANDBOX', 'petstore-sandbox control stop', ['serve']],
    ['target use nope -ojson', 'UNKNOWN_TARGET', 'petstore-sandbox target use', ['target list', 'target set']],
    ['conform --output=json', 'INVALID_OPTIONS', 'petstore-sandbox conform', ['conform --help']],
    ['nope --json', 'USAGE', 'nope', ['--help']],
  ])('"%s" has code, message, place, fix and commands', async (line, code, place, next) => {
    const { out, err } = await runAlone(line.split(' '))
    expect(out.startsWith('{') || out === '').toBe(true)
    const [first = ''] = err.split('\n')
    expect(JSON.parse(first)).toEqual({
      error: { code, message: expect.stringMatching(/../), place, fix: expect.stringMatching(/\.$/) },
      ...(next === undefined ? {} : { next: next.map((words) => `npx petstore-sandbox ${words}`) }),
    })
  })

  it('is plain if only the command of exec has -o json', async () => {
    expect((await runAlone(['exec', 'no-such-command', '-o', 'json'])).err).toMatch(/^NO_SUCH_COMMAND: /)
  })
})
