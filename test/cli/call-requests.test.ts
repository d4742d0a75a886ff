import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import type { Sandbox } from '../../src/api/controls.js'
import { cellWidth } from '../../src/cli/table.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { run, sandboxWith, type TestIo, testIo } from './test-io.js'

/** What happens while a client waits. */
const waits = vi.hoisted(() => ({ meanwhile: async (_wait: number): Promise<void> => {} }))

vi.mock('../../src/cli/call/machine.js', () => ({
  clientMachine: () => ({
    sleep: (wait: number) => waits.meanwhile(wait),
    now: () => Date.parse('2026-03-01T10:00:00Z'),
    random: () => 0,
  }),
}))

interface Terminal {
  readonly columns?: number
  readonly env?: TestIo['env']
}

/** Calls the sandbox from a pipe, or from a terminal with this number of columns. */
async function call(sandbox: Sandbox, argv: string | readonly string[], { columns, env = {} }: Terminal = {}) {
  const cwd = temporaryFolder()
  const own = { XDG_CONFIG_HOME: join(cwd, 'config'), HOME: cwd, PETSTORE_SANDBOX_URL: sandbox.controlUrl }
  const io = testIo({ cwd, tty: columns !== undefined, env: { ...own, NO_COLOR: '1', ...env } })
  for (const stream of [io.stdout, io.stderr]) Object.assign(stream, { columns })
  return run(['call', ...(typeof argv === 'string' ? argv.split(' ') : argv)], io)
}

describe('call METHOD /path', () => {
  it.each([
    ['GET /pets?limit=2&status=sold', 'listPets --limit 2 --status sold'],
    ['get /pets/7', 'getPet 7'],
  ])('%s is the same as %s', async (written, named) => {
    const sandbox = await sandboxWith()
    expect(await call(sandbox, written)).toEqual(await call(sandbox, named))
    const [first, second] = await sandbox.requests()
    expect(first).toMatchObject({ path: second?.path, query: second?.query, operation: second?.operation })
  })

  it('sends a body, HEAD, and the query as it was written', async () => {
    const sandbox = await sandboxWith()
    const { code, out } = await call(sandbox, 'POST /pets --body {"name":"Rex","categoryId":1}')
    expect({ code, pet: JSON.parse(out) }).toMatchObject({ code: 0, pet: { name: 'Rex' } })
    const head = { code: 0, out: expect.stringMatching(/^HTTP 200 OK\n/) }
    expect(await call(sandbox, 'HEAD /pets -i')).toMatchObject(head)
    await call(sandbox, ['GET', '/pets?limit=2&x=é%20&x'])
    expect((await sandbox.requests()).at(-1)).toMatchObject({ query: 'limit=2&x=%C3%A9%20&x' })
  })

  it.each([
    ['GET /pet', 'UNKNOWN_OPERATION: The contract has no "GET /pet"; did you mean GET /pets?\n'],
    [
      'GET /v1/pets',
      'UNKNOWN_OPERATION: The contract has no "GET /v1/pets"; did you mean GET /pets? The base address is put in front of it.\n',
    ],
    ['DELETE /pets', 'UNKNOWN_OPERATION: The contract has no "DELETE /pets"; /pets takes GET, HEAD, POST.\n'],
    ['GET /pets?limit=0', 'INVALID_REQUEST: listPets: limit must be a whole number from 1 to 100 (it is 0)\n'],
    ['GET /pets/..', 'INVALID_REQUEST: ".." cannot be part of a path\n'],
    ['GET', "USAGE: missing required argument 'path'. See petstore-sandbox call GET --help.\n"],
  ])('refuses %s, and sends nothing', async (line, err) => {
    const sandbox = await sandboxWith()
    expect(await call(sandbox, line)).toEqual({ code: 2, out: '', err })
    expect(await sandbox.requests()).toEqual([])
  })
})

describe('call on a terminal', () => {
  it('shows JSON in colours, which a pipe and NO_COLOR do without', async () => {
    const sandbox = await sandboxWith()
    const shown = async (terminal: Terminal) => (await call(sandbox, 'GET /pets/1 -o json', terminal)).out
    const out = await shown({ columns: 80, env: { NO_COLOR: '' } })
    expect(out).toContain('\u001b[36m"id"\u001b[39m: \u001b[33m1\u001b[39m')
    expect(out).toContain('\u001b[32m"')
    const plain = await shown({ columns: 80 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
    expect(out.replace(/\u001b\[\d+m/g, '')).toBe(plain)
    expect(plain).not.toContain('\u001b')
    expect(await shown({ env: { NO_COLOR: '' } })).toBe(plain)
  })

  it('announces a wait, and the command that would end it', async () => {
    const sandbox = await sandboxWith({ limits: '1/min' })
    await call(sandbox, 'listPets')
    waits.meanwhile = async () => void (await sandbox.clock.advance('1m'))
    const { code, err } = await call(sandbox, 'listPets', { columns: 80 })
    expect(code).toBe(0)
    expect(err).toBe(
      'No need to wait: press Ctrl-C, run "npx petstore-sandbox control clock advance 1m", and call again.\n' +
        'note: 429 Too Many Requests; attempt 2 of 3 in 1m\n',
    )
  })

  it.each([
    [{ limits: '1/min' }, {}, 'petstore-sandbox control clock advance 1m'],
    [{ limits: '1/day' }, {}, 'petstore-sandbox control clock advance 24h'],
    [{ storm: '1' }, {}, 'petstore-sandbox control storm stop'],
    [{ fault: '*:429' }, {}, 'petstore-sandbox control fault clear'],
    [{ plan: 'free' }, { PETSTORE_API_KEY: 'sandbox-limited' }, undefined],
    [{ plan: 'free' }, { PETSTORE_API_KEY: 'sandbox-banned' }, undefined],
    [{ storm: '1' }, { PETSTORE_API_KEY: 'sandbox~checkout' }, 'petstore-sandbox control --space checkout storm stop'],
  ] as const)('names the gentlest cure when it gives up: %j', async (options, env, cure) => {
    const sandbox = await sandboxWith(options)
    await call(sandbox, 'listPets --retry 0', { env })
    const { err } = await call(sandbox, 'listPets --retry 0', { env })
    const { hint }: { hint: string } = JSON.parse(err).error
    if (cure === undefined) expect(hint).toMatch(/^The sandbox always refuses the key sandbox-\w+\. Use another one\.$/)
    else expect(hint).toContain(cure)
  })

  it('ends a ban by the clock, as the sandbox may not know the key by its text', async () => {
    const sandbox = await sandboxWith({ anyKey: true })
    await sandbox.ban('sandbox')
    const { err } = await call(sandbox, 'listPets --retry 0')
    expect(JSON.parse(err).next).toEqual([expect.stringMatching(/petstore-sandbox control clock advance 5m$/)])
  })

  it('lays tables out by cells, so that none of its lines is wider than the terminal', async () => {
    const sandbox = await sandboxWith()
    for (const name of ['ねこのミケ', '👩‍👩‍👧‍👦 family', 'é'.repeat(2000), '犬'.repeat(1000)])
      await sandbox.pets.add({ name, categoryId: 9_223_372_036_854_775_807n })
    for (const columns of [60, 80, 120]) {
      const { out } = await call(sandbox, 'listPets --limit 8', { columns })
      for (const text of [out, (await call(sandbox, '--list', { columns })).out])
        expect(Math.max(...text.trimEnd().split('\n').map(cellWidth))).toBeLessThanOrEqual(columns)
      expect(out).toContain('ねこのミケ')
      expect(out.match(/ 9223372036854775807\b/g)).toHaveLength(4)
      expect(out.match(/…/g)?.length).toBeGreaterThanOrEqual(2)
    }
    expect((await call(sandbox, 'listPets --limit 8 -o table')).out).toContain('犬'.repeat(1000))
  })
})

describe('call --curl', () => {
  const runShell = async (script: string, env: Record<string, string> = {}) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env }, timeout: 10_000 }
    return (await promisify(execFile)('sh', ['-c', script], options)).stdout
  }

  it('runs as printed, with the key that the sandbox has', async () => {
    const sandbox = await sandboxWith()
    const { out, err } = await call(sandbox, 'listPets --limit 1 --curl')
    expect(err).toBe('')
    expect(JSON.parse(await runShell(out))).toHaveLength(1)
    const name = 'R\'e"x $HOME `id`'
    const created = await call(sandbox, ['createPet', '--name', name, '--category-id', '1', '--curl'])
    expect(JSON.parse(await runShell(created.out))).toMatchObject({ name })
    expect((await sandbox.requests()).map(({ key }) => key)).toEqual(['sandbox', 'sandbox'])
  })

  it('runs as printed, with the key in the environment that it names', async () => {
    const sandbox = await sandboxWith()
    const { out } = await call(sandbox, 'listPets --curl', { env: { PETSTORE_API_KEY: 'sandbox-pro' } })
    expect(out).not.toContain('sandbox-pro')
    await runShell(out, { PETSTORE_API_KEY: 'sandbox-pro' })
    expect((await sandbox.requests()).map(({ key }) => key)).toEqual(['sandbox-pro'])
  })

  it('says so where that is not set', async () => {
    const sandbox = await sandboxWith()
    const argv = ['listPets', '--curl', '--base-url', 'https://api.example/v1', '-H', 'Authorization: Bearer abc']
    const { out, err } = await call(sandbox, argv)
    expect(out).toContain('"Authorization: Bearer $PETSTORE_API_KEY"')
    expect(err).toContain('note: It reads the key from PETSTORE_API_KEY, which is not set here')
  })
})
