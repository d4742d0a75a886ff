import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/api/controls.js'
import { hostileServer } from '../client/hostile-server.js'
import { listenLocally } from '../support/listen-locally.js'
import { get, run, sandboxWith, type TestIo, testIo } from './test-io.js'

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
    socket.write(`HTTP/1.1 ${status} `)
    socket.write(Buffer.concat([HOSTILE_HEAD, Buffer.from('\r\n')]))
    for (const name of ['Location', 'X-Sandbox-Reason', 'X-RateLimit-Limit', 'Deprecation', 'Sunset', 'Content-Type'])
      socket.write(Buffer.concat([Buffer.from(`${name}: `), HOSTILE_VALUE, Buffer.from('\r\n')]))
    socket.end(`Retry-After: 99999\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
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

  it.each(Object.keys(BODIES) as (keyof typeof BODIES)[])('in call, by %s', async (name) => {
    for (const status of [200, 302, 429]) {
      const origin = await hostileResponse(status, BODIES[name])
      for (const output of status === 200 ? ['auto', 'json', 'yaml', 'table', 'raw'] : ['auto']) {
        for (const tty of [true, false]) {
          const check = output === 'auto' && tty ? ' --check' : ''
          const line = `call listPets --base-url ${origin}/v1 -o ${output} -i -v${check} --retry 0`
          const { out, err } = await run(line, ioWith(tty, KEY))
          expectHarmless(err)
          // In a pipe the body is given as it was received where it is not laid out anew.
          const isAsReceived = !tty && (['auto', 'raw'].includes(output) || name === 'a text')
          expectHarmless(isAsReceived ? out.replace(BODIES[name], '') : out)
          if (isAsReceived && status === 200) expect(out.replace(/\n$/, '').endsWith(BODIES[name])).toBe(true)
          expect(err).not.toContain('INTERNAL')
        }
      }
    }
  })

  it('in the announcement of a retry', async () => {
    const head = Buffer.concat([
      Buffer.from('HTTP/1.1 503 '),
      HOSTILE_HEAD,
      Buffer.from('\r\nContent-Length:0\r\n\r\n'),
    ])
    const origin = await hostileServer((socket) => socket.end(head))
    const line = `call listPets --base-url ${origin}/v1 --retry 1 --retry-max-wait 1ms`
    const { err } = await run(line, ioWith(true))
    expect(err).toContain('attempt 2 of 2')
    expectHarmless(err)
  })

  it.each([
    ['text', 200, 'a list'],
    ['json', 404, 'an error'],
    ['junit', 429, 'a text'],
  ] as const)('in verify -o %s', async (output, status, body) => {
    const origin = await hostileResponse(status, BODIES[body])
    const { out, err } = await run(`verify --base-url ${origin}/v1 -o ${output} --writes`, ioWith(true, KEY))
    expectHarmless(out + err)
    expect(err).not.toContain('INTERNAL')
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

/** A control plane that corrupts the responses of a real one, or refuses all but its health. */
async function spoiler(sandbox: Sandbox, spoil?: Spoil): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (spoil !== undefined && request.url?.includes('/requests/stream')) {
      const exchanges = await sandbox.requests()
      response.setHeader('Content-Type', 'text/event-stream')
      for (const one of exchanges) response.write(`event: exchange\ndata: ${JSON.stringify(spoilt(one, spoil))}\n\n`)
      response.end()
      return
    }
    const url = sandbox.controlUrl.replace('/__sandbox', String(request.url))
    const isHealth = request.url?.endsWith('/health') === true
    if (spoil === undefined && !isHealth) {
      response.writeHead(400).end(JSON.stringify({ code: HOSTILE, message: HOSTILE, status: 400 }))
      return
    }
    const reply = await fetch(url, {
      method: String(request.method),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks), headers: { 'content-type': 'application/json' } }),
    })
    const text = await reply.text()
    response.statusCode = reply.status
    response.end(isHealth || spoil === undefined ? text : JSON.stringify(spoilt(JSON.parse(text), spoil)))
  })
  return `${await listenLocally(server)}/__sandbox`
}

/** HOSTILE has no blank. */
const VERBS = [
  'status',
  'clock advance 1m',
  'storm show',
  'fault add listPets:503',
  'records list pets',
  `records add pets --name ${HOSTILE} --category-id 1`,
  'spaces list',
  `spaces remove ${HOSTILE}`,
  'requests',
  'requests -f',
  'conduct',
  `plan sandbox~${HOSTILE} pro`,
  `status --space ${HOSTILE}`,
]

describe('what a control plane says never drives the terminal', () => {
  it.each([
    ['hostile texts', everyText, VERBS],
    ['hostile texts where numbers should be', everything, VERBS],
    ['hostile refusals', undefined, ['status', 'records list pets']],
  ] as const)('by %s', async (_name, spoil, verbs) => {
    const sandbox = await sandboxWith()
    for (const key of ['sandbox', 'sandbox-limited', 'nobody', 'sandbox~other']) await get(sandbox, '/pets/1', key)
    const controlUrl = await spoiler(sandbox, spoil)
    for (const verb of verbs) {
      for (const json of ['', ' --json']) {
        const { out, err } = await run(`control ${verb}${json} --url ${controlUrl}`, ioWith(json === ''))
        expectHarmless(out + err)
        expect(err, verb).not.toContain('INTERNAL')
      }
    }
  })

  it('nor gives it more than colours, where it has colours', async () => {
    const sandbox = await sandboxWith()
    await fetch(`${sandbox.baseUrl}/pets/1`)
    const controlUrl = await spoiler(sandbox, everything)
    for (const verb of ['conduct', 'requests', 'requests -f']) {
      const io = ioWith(true, { NO_COLOR: '', FORCE_COLOR: '1' })
      const { out, err } = await run(`control ${verb} --url ${controlUrl}`, io)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that are ours
      expectHarmless((out + err).replace(/\u001b\[(?:2|22|3[1-6]|39)m/g, ''))
    }
  })
})

const responses = { 200: { description: HOSTILE } }
const description = HOSTILE
const parameters = [
  { name: 'limit', in: 'query', description, schema: { type: 'string', enum: [HOSTILE, 'b'], default: HOSTILE } },
  { name: HOSTILE, in: 'query', description, schema: { type: 'string' } },
]
const list = { operationId: 'list', summary: HOSTILE, description, deprecated: true, 'x-stability': HOSTILE }
const SPEC = JSON.stringify({
  openapi: '3.1.0',
  info: { title: HOSTILE, version: HOSTILE, description },
  paths: { '/pets': { get: { ...list, parameters, responses }, post: { operationId: HOSTILE, responses } } },
})

const quoted = JSON.stringify(HOSTILE)
const CONFIG = 'config/petstore-sandbox/config.yaml'
const targets = (text: string) => ({ [CONFIG]: `targets:\n  ${text}\n` })
const own = { 'own.json': SPEC }

it.each<[line: string, files: Record<string, string>]>([
  [HOSTILE, {}],
  [`serve --scenario ${HOSTILE} --debug`, {}],
  ['serve', { 'petstore-sandbox.yaml': `${quoted}: 1\nplan: ${quoted}\n` }],
  ['serve --fixtures own', { 'own/pets.json': JSON.stringify([{ [HOSTILE]: HOSTILE }]) }],
  ['serve --store own.json -p 0', { 'own.json': `{"version":${quoted}}` }],
  [`call ${HOSTILE}`, {}],
  [`call listPets -H ${HOSTILE}`, {}],
  [`call createPet --name ${HOSTILE} --category-id ${HOSTILE} --status ${HOSTILE}`, {}],
  ['call --spec own.json --list', own],
  ['call --spec own.json list --help', own],
  [`control status --token-file ${HOSTILE}`, {}],
  ['target list', targets(`a: { base-url: http://a.invalid, api-key-file: ${quoted} }`)],
  [`target set ${HOSTILE} --base-url ${HOSTILE}`, {}],
  [`exec -- ${HOSTILE.replace('\0', '')}`, {}],
  ['exec --spec own.json --log json -- true', own],
  ['verify --spec own.json --base-url http://127.0.0.1:1/v1', own],
])('names and files never drive the terminal %j', async (line, files) => {
  const io = ioWith(true, { [`PETSTORE_SANDBOX_${HOSTILE}`]: HOSTILE, PETSTORE_SANDBOX_URL: '' })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(io.cwd, name)), { recursive: true })
    writeFileSync(join(io.cwd, name), text)
  }
  const ended = run(line, io)
  // Stops a command that serves.
  void io.stderr.seen(/Ready on|"ready"/).then(() => io.signal('SIGTERM'))
  const { out, err } = await ended
  expectHarmless(out + err)
})
