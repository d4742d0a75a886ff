import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/api/controls.js'
import { startSandbox } from '../../src/api/start.js'
import { runCli } from '../../src/cli/run-cli.js'
import { hostileServer } from '../client/hostile-server.js'
import { type TestIo, testIo } from './test-io.js'

/** Sets the clipboard, clears the screen, moves and colours by C0 and C1, hides, breaks lines, turns the direction of writing. */
const HOSTILE =
  '\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u001b[8m\u0085\u0000\b\r\n\u2028\u202eevil\u2066\u200f\u061c\u007f'
/** What of it a header or a reason can carry. */
const HOSTILE_HEAD = Buffer.from('\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u0085\u009d', 'latin1')
const HOSTILE_VALUE = Buffer.from('\u009b31m\u0085\u009d\u00e2\u0080\u00ae', 'latin1')

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must not come
const DRIVES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

function expectHarmless(printed: string): void {
  const found = DRIVES.exec(printed)
  expect(found === null ? '' : JSON.stringify(printed.slice(Math.max(0, found.index - 40), found.index + 40))).toBe('')
}

function ioWith(tty: boolean, env: TestIo['env'] = {}): TestIo {
  const io = testIo({ tty })
  return { ...io, env: { XDG_CONFIG_HOME: join(io.cwd, 'config'), HOME: io.cwd, NO_COLOR: '1', ...env } }
}

/** Sends every client the same response, hostile in its reason, headers and body. */
function hostileResponse(status: number, body: string): Promise<string> {
  return hostileServer((socket) => {
    const head = (name: string) => [Buffer.from(`${name}: `), HOSTILE_VALUE, Buffer.from('\r\n')]
    socket.end(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 ${status} `),
        HOSTILE_HEAD,
        Buffer.from('\r\n'),
        ...['Location', 'X-Sandbox-Reason', 'X-RateLimit-Limit', 'Deprecation', 'Sunset', 'Content-Type'].flatMap(head),
        Buffer.from(`Retry-After: 99999\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
      ]),
    )
  })
}

const BODIES = {
  'a list': JSON.stringify([
    { [HOSTILE]: HOSTILE, name: HOSTILE, id: 1 },
    { id: HOSTILE, deep: { [HOSTILE]: [HOSTILE] } },
  ]),
  'an error': JSON.stringify({ code: HOSTILE, message: HOSTILE, status: HOSTILE }),
  'a text': HOSTILE,
  nothing: '',
}

describe('what a server says never drives the terminal', () => {
  const KEY = { PETSTORE_API_KEY: 'sandbox' }
  const outputs = ['auto', 'json', 'yaml', 'table', 'raw']

  it.each(Object.keys(BODIES) as (keyof typeof BODIES)[])('in call, by %s', async (name) => {
    for (const status of [200, 302, 429]) {
      const origin = await hostileResponse(status, BODIES[name])
      for (const tty of [true, false]) {
        for (const output of outputs) {
          const io = ioWith(tty, KEY)
          const argv = ['listPets', '--base-url', `${origin}/v1`, '-o', output, '-i', '-v', '--check', '--retry', '0']
          await runCli(['call', ...argv], io)
          expectHarmless(io.stderr.text)
          // In a pipe the body is given as it was received where it is not laid out anew.
          const isAsReceived = !tty && (['auto', 'raw'].includes(output) || name === 'a text')
          expectHarmless(isAsReceived ? io.stdout.text.replace(BODIES[name], '') : io.stdout.text)
          if (isAsReceived && status === 200) expect(io.stdout.text.endsWith(BODIES[name])).toBe(true)
          expect(io.stderr.text).not.toContain('INTERNAL')
        }
      }
    }
  })

  it('in the announcement of a retry', async () => {
    const origin = await hostileServer((socket) =>
      socket.end(
        Buffer.concat([Buffer.from('HTTP/1.1 503 '), HOSTILE_HEAD, Buffer.from('\r\nContent-Length: 0\r\n\r\n')]),
      ),
    )
    const io = ioWith(true)
    await runCli(['call', 'listPets', '--base-url', `${origin}/v1`, '--retry', '1', '--retry-max-wait', '1ms'], io)
    expect(io.stderr.text).toContain('attempt 2 of 2')
    expectHarmless(io.stderr.text)
  })

  it.each(['text', 'json', 'junit'])('in verify -o %s', async (output) => {
    for (const [status, body] of [
      [200, BODIES['a list']],
      [404, BODIES['an error']],
      [429, BODIES['a text']],
    ] as const) {
      const origin = await hostileResponse(status, body)
      for (const tty of [true, false]) {
        const io = ioWith(tty, KEY)
        await runCli(['verify', '--base-url', `${origin}/v1`, '-o', output, '--writes'], io)
        expectHarmless(io.stdout.text + io.stderr.text)
        expect(io.stderr.text).not.toContain('INTERNAL')
      }
    }
  })
})

type Spoil = (value: unknown) => unknown
const everyText: Spoil = (value) => (typeof value === 'string' ? HOSTILE : value)
const everything: Spoil = () => HOSTILE

/** Puts something else in the place of every leaf, and beside every field. */
function spoilt(value: unknown, spoil: Spoil): unknown {
  if (Array.isArray(value)) return value.map((one) => spoilt(one, spoil))
  if (typeof value !== 'object' || value === null) return spoil(value)
  return Object.fromEntries([
    ...Object.entries(value).map(([name, one]) => [name, spoilt(one, spoil)]),
    [HOSTILE, HOSTILE],
  ])
}

/** A control plane that corrupts the responses of a real one. */
async function spoiler(sandbox: Sandbox, spoil: Spoil, refuses: boolean): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url?.includes('/requests/stream')) {
      const exchanges = await sandbox.requests()
      response.setHeader('Content-Type', 'text/event-stream')
      for (const one of exchanges) response.write(`event: exchange\ndata: ${JSON.stringify(spoilt(one, spoil))}\n\n`)
      response.end()
      return
    }
    const url = sandbox.controlUrl.replace('/__sandbox', String(request.url))
    const isHealth = request.url?.endsWith('/health') === true
    const hasBody = chunks.length > 0
    // The real sandbox must keep running.
    const reply = request.url?.includes('/shutdown')
      ? { status: 200, text: async () => '{}' }
      : await fetch(url, {
          method: String(request.method),
          ...(hasBody ? { body: Buffer.concat(chunks), headers: { 'content-type': 'application/json' } } : {}),
        })
    const text = await reply.text()
    response.statusCode = refuses && !isHealth ? 400 : reply.status
    const refused = { code: HOSTILE, message: HOSTILE, status: 400 }
    response.end(isHealth ? text : JSON.stringify(refuses ? refused : spoilt(JSON.parse(text), spoil)))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/__sandbox`
}

const VERBS: readonly (readonly string[])[] = [
  ['status'],
  ['reset'],
  ['clock', 'advance', '1m'],
  ['settings', 'set', 'plan=pro'],
  ['plan', 'sandbox', 'pro'],
  ['keys', 'list'],
  ['keys', 'add', 'team-a'],
  ['storm', 'start', '0.5,for=30s'],
  ['storm', 'show'],
  ['fault', 'add', 'listPets:503'],
  ['fault', 'list'],
  ['scenario', 'storm'],
  ['pets', 'list'],
  ['pets', 'add', '--name', HOSTILE, '--category-id', '1'],
  ['pets', 'set', '1', '--status', 'sold'],
  ['snapshot', 'list'],
  ['spaces', 'list'],
  ['spaces', 'remove', HOSTILE],
  ['requests'],
  ['requests', '-f'],
  ['conduct'],
  ['wait'],
  ['plan', `sandbox~${HOSTILE}`, 'pro'],
  ['snapshot', 'restore', HOSTILE],
  ['status', '--space', HOSTILE],
]

describe('what a control plane says never drives the terminal', () => {
  it.each([
    ['hostile texts', everyText, false],
    ['hostile texts where numbers should be', everything, false],
    ['hostile refusals', everyText, true],
  ] as const)('by %s', async (_name, spoil, refuses) => {
    const sandbox = await startSandbox({ seed: 1 })
    onTestFinished(() => sandbox.close())
    const ask = (key: string) => fetch(`${sandbox.baseUrl}/pets/1`, { headers: { Authorization: `Bearer ${key}` } })
    for (const key of ['sandbox', 'sandbox-limited', 'sandbox-banned', 'nobody', 'sandbox~other']) await ask(key)
    const controlUrl = await spoiler(sandbox, spoil, refuses)
    for (const verb of VERBS) {
      for (const json of [[], ['--json']]) {
        const io = ioWith(json.length === 0)
        await runCli(['control', ...verb, ...json, '--url', controlUrl], io)
        expectHarmless(io.stdout.text)
        expectHarmless(io.stderr.text)
        expect(io.stderr.text, verb.join(' ')).not.toContain('INTERNAL')
      }
    }
  })

  it('nor gives it more than colours, where it has colours', async () => {
    const sandbox = await startSandbox({ seed: 1 })
    onTestFinished(() => sandbox.close())
    await fetch(`${sandbox.baseUrl}/pets/1`)
    const controlUrl = await spoiler(sandbox, everything, false)
    for (const verb of [['conduct'], ['requests'], ['requests', '-f']]) {
      const io = ioWith(true, { NO_COLOR: '', FORCE_COLOR: '1' })
      await runCli(['control', ...verb, '--url', controlUrl], io)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that are ours
      expectHarmless((io.stdout.text + io.stderr.text).replace(/\u001b\[(?:2|22|3[1-6]|39)m/g, ''))
    }
  })
})

const SPEC = JSON.stringify({
  openapi: '3.1.0',
  info: { title: HOSTILE, version: HOSTILE, description: HOSTILE },
  paths: {
    '/pets': {
      get: {
        operationId: 'list',
        summary: HOSTILE,
        description: HOSTILE,
        deprecated: true,
        'x-stability': HOSTILE,
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: HOSTILE,
            schema: { type: 'string', enum: [HOSTILE, 'b'], default: HOSTILE },
          },
          { name: HOSTILE, in: 'query', description: HOSTILE, schema: { type: 'string' } },
        ],
        responses: { 200: { description: HOSTILE } },
      },
      post: { operationId: HOSTILE, summary: HOSTILE, responses: { 200: { description: HOSTILE } } },
    },
  },
})

describe('names and files never drive the terminal', () => {
  const config = (text: string) => ({ 'config/petstore-sandbox/config.yaml': text })
  const quoted = JSON.stringify(HOSTILE)
  it.each([
    ['an unknown command', [HOSTILE], {}],
    ['an unknown flag', ['serve', `--${HOSTILE}`], {}],
    ['a bad value', ['serve', '--plan', HOSTILE], {}],
    ['a missing scenario', ['serve', '--scenario', HOSTILE], {}],
    ['an unknown key of the config file', ['serve'], { 'petstore-sandbox.yaml': `${quoted}: 1\nplan: ${quoted}\n` }],
    ['an invalid YAML config file', ['serve'], { 'petstore-sandbox.yaml': `a: [\u009b31m\u202e` }],
    ['bad fixtures', ['serve', '--fixtures', 'own'], { 'own/pets.json': JSON.stringify([{ [HOSTILE]: HOSTILE }]) }],
    ['an invalid store', ['serve', '--store', 'own.json', '-p', '0'], { 'own.json': `{"version":${quoted}}` }],
    ['an unknown operation', ['call', HOSTILE], {}],
    ['an unknown target', ['call', 'listPets', '-t', HOSTILE], {}],
    ['a base address', ['call', 'listPets', '--base-url', `http://${HOSTILE}`], {}],
    ['a bad header', ['call', 'listPets', '-H', HOSTILE], {}],
    ['a violation', ['call', 'createPet', '--name', HOSTILE, '--category-id', HOSTILE, '--status', HOSTILE], {}],
    ['the operations of a contract', ['call', '--spec', 'own.json', '--list'], { 'own.json': SPEC }],
    ['the help of an operation', ['call', '--spec', 'own.json', 'list', '--help'], { 'own.json': SPEC }],
    ['a missing token', ['control', 'status', '--token-file', HOSTILE], {}],
    ['a scenario', ['control', 'scenario', HOSTILE], {}],
    ['targets', ['target', 'list'], config(`targets:\n  ${quoted}: { base-url: http://a.invalid }\n`)],
    [
      'a key file',
      ['target', 'list'],
      config(`targets:\n  a: { base-url: http://a.invalid, api-key-file: ${quoted} }\n`),
    ],
    ['an unknown field of a target', ['target', 'list'], config(`targets:\n  a: { ${quoted}: 1 }\n`)],
    ['a target to set', ['target', 'set', HOSTILE, '--base-url', HOSTILE], {}],
    ['a missing program', ['exec', '--', HOSTILE.replace('\0', '')], {}],
    ['operations that were not called', ['exec', '--spec', 'own.json', '--', 'true'], { 'own.json': SPEC }],
    ['the same in the JSON log', ['exec', '--spec', 'own.json', '--log', 'json', '--', 'true'], { 'own.json': SPEC }],
    ['a line to complete', ['completion', 'bash', '--line', `petstore-sandbox ${HOSTILE}`], {}],
    [
      'a contract to verify by',
      ['verify', '--spec', 'own.json', '--base-url', 'http://127.0.0.1:1/v1'],
      { 'own.json': SPEC },
    ],
  ] as readonly (readonly [string, readonly string[], Readonly<Record<string, string>>])[])(
    '%s',
    async (_name, argv, files) => {
      for (const debug of [[], ['--debug']]) {
        const io = ioWith(true, { [`PETSTORE_SANDBOX_${HOSTILE}`]: HOSTILE, PETSTORE_SANDBOX_URL: '' })
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(dirname(join(io.cwd, name)), { recursive: true })
          writeFileSync(join(io.cwd, name), text)
        }
        const [command = '', ...rest] = argv
        const ended = runCli(argv[0] === 'exec' ? argv : [command, ...rest, ...debug], io)
        // Stops a command that serves.
        void io.stderr.seen(/Ready on|"ready"/).then(() => io.signal('SIGTERM'))
        await ended
        const printed = io.stdout.text + io.stderr.text
        // The scripts of completion tell words from their meaning by tabs.
        expectHarmless(command === 'completion' ? printed.replaceAll('\t', '') : printed)
      }
    },
  )
})

describe("what clients send never drives the terminal in serve's log", () => {
  it.each(['pretty', 'json'])('%s', async (log) => {
    const io = ioWith(true)
    const ended = runCli(['serve', '-p', '0', '--in-memory', '--any-key', '--log', log], io)
    const [, port] = await io.stderr.seen(/127\.0\.0\.1:(\d+)/)
    const target = Buffer.from(`/v1/pets?x=\u009b31m\u0085\u202e`, 'utf8')
    for (const [method, key] of [
      ['GET', 'sandbox~\u009b31m'],
      ['GET', '\u009b31m\u0085'],
      ['PATCH', 'sandbox'],
    ] as const) {
      const socket = connect(Number(port), '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      socket.on('error', () => {})
      socket.end(
        Buffer.concat([
          Buffer.from(`${method} `),
          target,
          Buffer.from(
            ` HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
            'latin1',
          ),
        ]),
      )
      socket.resume()
      await once(socket, 'close')
    }
    io.signal('SIGTERM')
    await ended
    expectHarmless(io.stderr.text)
    expect(io.stderr.text.split('\n').length).toBeGreaterThan(3)
  })
})
