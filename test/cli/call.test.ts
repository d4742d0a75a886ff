import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import type { Sandbox } from '../../src/api/controls.js'
import { servedContract } from '../../src/cli/call/served-contract.js'
import { cellWidth } from '../../src/cli/table.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { hostileServer } from '../client/hostile-server.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { BIN, startProgram } from './built.js'
import { run, sandboxWith, type TestIo, testIo } from './test-io.js'

/** Waits are recorded, not waited for; a test may act during a wait. */
const waits = vi.hoisted(() => ({
  lengths: [] as number[],
  meanwhile: (_wait: number): Promise<void> | void => {},
}))
const stdin = vi.hoisted(() => ({ text: '', reads: 0, isTTY: false, confirmed: false }))

vi.mock('../../src/cli/call/machine.js', () => ({
  clientMachine: () => ({
    async sleep(wait: number, signal: AbortSignal) {
      waits.lengths.push(wait)
      await waits.meanwhile(wait)
      signal.throwIfAborted()
    },
    now: () => Date.parse('2026-03-01T10:00:00Z'),
    random: () => 0.5,
  }),
}))
vi.mock('../../src/cli/call/stdin.js', () => ({
  readStdin: async () => {
    stdin.reads++
    return Buffer.from(stdin.text)
  },
  canAsk: () => stdin.isTTY,
  askToConfirm: async () => stdin.confirmed,
}))

beforeEach(() => {
  waits.lengths = []
  waits.meanwhile = () => {}
  Object.assign(stdin, { text: '', reads: 0, isTTY: false, confirmed: false })
})

/** An environment without the machine's own targets. */
function ioFor(sandbox?: Sandbox, env: TestIo['env'] = {}, tty = false): TestIo {
  const cwd = temporaryFolder()
  const own = { XDG_CONFIG_HOME: join(cwd, 'config'), HOME: cwd, NO_COLOR: '1' }
  return testIo({ cwd, tty, env: { ...own, ...(sandbox && { PETSTORE_SANDBOX_URL: sandbox.controlUrl }), ...env } })
}

/** @param argv words, or a line that is split at its blanks */
const call = (argv: string | readonly string[], io = ioFor()) =>
  run(['call', ...(typeof argv === 'string' ? argv.split(' ').filter((word) => word !== '') : argv)], io)

type Terminal = { readonly columns?: number; readonly env?: TestIo['env'] }

/** Calls the sandbox from a pipe, or from a terminal with this number of columns. */
function callAt(sandbox: Sandbox, argv: string | readonly string[], { columns, env }: Terminal = {}) {
  const io = ioFor(sandbox, env, columns !== undefined)
  for (const stream of [io.stdout, io.stderr]) Object.assign(stream, { columns })
  return call(argv, io)
}

function errorIn(text: string): Record<string, unknown> {
  const line = text.split('\n').find((one) => one.startsWith('{"error":'))
  return JSON.parse(line ?? '{"error":{}}').error
}

const REX = 'createPet --name Rex --category-id 1'

describe('call', () => {
  it('prints in a pipe the body as it was received, with a line feed unless it is raw', async () => {
    const sandbox = await sandboxWith()
    const headers = { Authorization: 'Bearer sandbox' }
    const body = await (await fetch(`${sandbox.baseUrl}/pets?limit=2`, { headers })).text()
    const io = ioFor(sandbox)
    expect(await call('listPets --limit 2', io)).toEqual({ code: 0, out: `${body}\n`, err: '' })
    expect((await call('listPets --limit 2 -o raw', ioFor(sandbox))).out).toBe(body)
    const json = await call('listPets --limit 2 --json', ioFor(sandbox))
    expect(json.out).toBe(`${JSON.stringify(JSON.parse(body), undefined, 2)}\n`)
    expect(stdin.reads).toBe(0)
    expect(io.listeners.size).toBe(0)
  })

  it('keeps every digit of an int64, in every output', async () => {
    const sandbox = await sandboxWith()
    const big = '9223372036854775807'
    for (const output of ['json', 'yaml', 'table', 'raw']) {
      const { code, out } = await call(`createPet --name Rex --category-id ${big} -o ${output}`, ioFor(sandbox))
      expect([output, code, out.includes(big)]).toEqual([output, 0, true])
    }
    const { out } = await call(`createPet --body {"name":"Rex","categoryId":${big}} -o yaml`, ioFor(sandbox))
    expect(parse(out, { intAsBigInt: true })).toMatchObject({ categoryId: BigInt(big) })
  })

  it('takes a body from its flag, a file or stdin, and fields go over it', async () => {
    const sandbox = await sandboxWith()
    const io = ioFor(sandbox)
    writeFileSync(join(io.cwd, 'pet.json'), '{"name":"File","categoryId":1}')
    stdin.text = '{"name":"Stdin","categoryId":1}'
    expect((await call('createPet --body @pet.json', io)).out).toContain('"name":"File"')
    expect((await call('createPet --body -', ioFor(sandbox))).out).toContain('"name":"Stdin"')
    const both = await call('createPet --body {"name":"A","categoryId":1} --name B', ioFor(sandbox))
    expect(JSON.parse(both.out)).toMatchObject({ name: 'B', categoryId: 1 })
  })

  it('puts the headers before the body with -i, and masks the key with -v', async () => {
    const io = ioFor(await sandboxWith(), { PETSTORE_API_KEY: 'sandbox-pro' })
    const { code, out, err } = await call(['listPets', '-i', '-v', '-H', 'X-Extra: 1'], io)
    expect(code).toBe(0)
    expect(out).toMatch(/^HTTP 200 OK\n(?:[\w-]+: .*\n)+\n\[/)
    expect(err).toMatch(/^> Authorization: Bearer \*\*\*$/m)
    expect(err).toMatch(/^> X-Extra: 1$/m)
    expect(err).not.toContain('sandbox-pro')
  })

  it('warns of deprecated and experimental operations', async () => {
    const sandbox = await sandboxWith()
    const removal = 'getPet is deprecated; its removal date is 2030-12-05'
    expect((await call('getPet 1', ioFor(sandbox))).err).toContain(removal)
    expect((await call('listOrders', ioFor(sandbox))).err).toContain('listOrders is experimental')
  })

  it.each([
    ['getPet 999999', 4, 'not_found', 404],
    ['listPets --retry 0', 5, 'simulated_fault', 503],
  ])('reports the error response to %s in one JSON line on stderr', async (line, exit, code, status) => {
    const { err, ...ended } = await call(line, ioFor(await sandboxWith({ fault: ['listPets:503'] })))
    expect(ended).toEqual({ code: exit, out: '' })
    const operation = line.split(' ', 1)[0]
    expect(errorIn(err)).toMatchObject({ code, status, exit, operation, method: 'GET', body: { code } })
  })

  it('prints an error response for people on a terminal, the code last, and ends with 0 if it is to be ignored', async () => {
    const sandbox = await sandboxWith()
    const { err } = await call('getPet 999999', ioFor(sandbox, {}, true))
    expect(err).toMatch(/\n {2}"code": "not_found",[\s\S]*\nnot_found: .* \(HTTP 404\)\n$/)
    const ignored = await call('getPet 999999 --ignore-status', ioFor(sandbox))
    expect(ignored).toMatchObject({ code: 0, out: '' })
  })

  it('checks the response against the contract with --check', async () => {
    const sandbox = await sandboxWith({ fault: ['listOrders:500'] })
    expect((await call('listPets --check', ioFor(sandbox))).code).toBe(0)
    const { code, err } = await call('listOrders --check', ioFor(sandbox))
    expect(code).toBe(6)
    expect(err).toContain('CONTRACT_VIOLATION: the status 500 is not documented')
  })
})

describe('what call refuses to send', () => {
  it('names every violation, and the flag of each, unless --no-validate is given', async () => {
    const sandbox = await sandboxWith()
    const { code, out, err } = await call('createPet --category-id 1.5 --status gone', ioFor(sandbox))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('name is required; set it with --name')
    expect(err).toContain('categoryId must be a whole number')
    expect(err).toContain('status must be one of available, pending, sold (it is "gone")')
    expect(await sandbox.requests()).toEqual([])
    const sent = await call('listPets --limit 101 --no-validate', ioFor(sandbox))
    expect(errorIn(sent.err)).toMatchObject({ exit: 4, code: 'invalid_request', status: 400 })
  })

  it.each([
    ['lstPets --limit 5', /UNKNOWN_OPERATION: .*did you mean listPets\? --list shows all/],
    [
      'listPets 5',
      /USAGE: too many arguments for 'listPets'\. Expected 0 arguments but got 1\. See .* call listPets --help/,
    ],
    ['getPet', /petId/],
    ['listPets --retry x --timeout 5 -H nope', /--header[\s\S]*--timeout/],
    ['listPets -o xml', /--output/],
    ['listPets --max-body 1GB', /--max-body "1GB": must be a whole number with a unit/],
    ['listPets --max-body 257MiB', /at most 256MiB/],
    ['listPets --body {}', /takes no body/],
    ['createPet --body @missing.json', /missing\.json.*ENOENT/],
    ['createPet --body - --api-key-file -', /both read stdin/],
    ['--nonsense', /--nonsense/],
    ['', /Usage: petstore-sandbox call/],
    ['listPets --key a --api-key-file b', /^INVALID_TARGET: --key and --api-key-file cannot both be given\n$/],
    ['listPets --key ä', /^INVALID_TARGET: --key: must contain a single API key/],
    ['--spec missing.yaml --list', /SPEC_INVALID: missing\.yaml/],
  ])('"%s" is wrong usage', async (line, message) =>
    expect(await call(line)).toEqual({ code: 2, out: '', err: expect.stringMatching(message) }),
  )

  it('writes to production only if it is meant', async () => {
    const sandbox = await sandboxWith()
    const toProduction = (line: string, tty = false) =>
      call(
        `${line} -t production --base-url ${sandbox.baseUrl}`,
        ioFor(undefined, { PETSTORE_API_KEY: 'sandbox' }, tty),
      )
    expect(await toProduction(REX)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    stdin.isTTY = true
    const unsent = expect.stringContaining('Nothing was sent: the write was not confirmed.')
    expect(await toProduction(REX, true)).toMatchObject({ code: 2, err: unsent })
    expect(await sandbox.requests()).toEqual([])
    stdin.confirmed = true
    expect((await toProduction(REX, true)).code).toBe(0)
    stdin.isTTY = false
    expect((await toProduction(`${REX} --yes`)).code).toBe(0)
    expect((await toProduction('listPets')).code).toBe(0)
  })
})

describe('what call shows without sending', () => {
  it('is every operation, with --list', async () => {
    const { code, out } = await call('--list')
    expect(code).toBe(0)
    expect(out).toMatch(/^getPet +GET \/pets\/\{petId\} +deprecated, to be removed on 2030-12-05/m)
    expect(out).toMatch(/^listOrders +GET \/store\/orders +experimental/m)
    const json = JSON.parse((await call('--list -o json')).out)
    expect(json).toHaveLength(packagedContract().operations.length)
    expect(parse((await call('--list -o yaml')).out)).toEqual(json)
    expect((await call('--list -o table')).out).toMatch(/^operation +request +stability/)
  })

  it('is the request, with --dry-run', async () => {
    const io = ioFor(undefined, { PETSTORE_API_KEY: 'secret-key' })
    const { out } = await call('listPets --status sold -n --base-url http://127.0.0.1:1/deep/v1/', io)
    expect(out).toMatch(/^GET http:\/\/127\.0\.0\.1:1\/deep\/v1\/pets\?status=sold\n/)
    expect(out).toContain('Authorization: Bearer $PETSTORE_API_KEY')
    expect(out).not.toContain('secret-key')
  })

  it('has the headers of the contract, from flags', async () => {
    const io = ioFor()
    const header = { name: 'X-Tenant-Id', in: 'header', required: true, schema: { type: 'integer' } }
    const paths = { '/things': { get: { operationId: 'find', parameters: [header], responses: {} } } }
    const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths }
    writeFileSync(join(io.cwd, 'openapi.json'), JSON.stringify(document))
    const line = 'find --x-tenant-id 5 -n --spec openapi.json --base-url http://127.0.0.1:1/v1'
    expect((await call(line, io)).out).toMatch(/^x-tenant-id: 5$/im)
  })

  it('has the required headers of the contract: the key and those of every call are not asked for', async () => {
    const io = ioFor()
    const header = (name: string, place = 'header') => ({ name, in: place, required: true, schema: { minLength: 3 } })
    const parameters = [header('X-Tenant'), header('X-Key'), header('User-Agent'), header('visit', 'cookie')]
    const paths = { '/things': { get: { operationId: 'find', parameters, responses: {} } } }
    const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'x-key' } }
    const more = { security: [{ key: [] }], components: { securitySchemes } }
    const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, ...more }
    writeFileSync(join(io.cwd, 'openapi.json'), JSON.stringify(document))
    const found = async (flags: string) => {
      const { code, err } = await call(`${flags} -n --spec openapi.json --base-url http://127.0.0.1:1/v1`, io)
      return { code, err }
    }
    const missing = await found('find')
    expect(missing.code).toBe(2)
    expect(missing.err).toContain('find: X-Tenant is required; set it with --x-tenant')
    expect(missing.err).toContain('find: visit is required')
    expect(missing.err).not.toMatch(/X-Key|User-Agent/)
    expect((await found('find --x-tenant ab -H Cookie:visit=123')).err).toContain('X-Tenant must have at least 3')
    expect((await found('get /things -H x-tenant:abc -H Cookie:visit=123')).code).toBe(0)
    expect((await found('find --no-validate')).code).toBe(0)
  })

  it('is an example with all that is required', async () => {
    const io = ioFor()
    const name = (more: object) => ({ type: 'string', ...more })
    const fields = {
      name: name({}),
      kind: name({ enum: ['a', 'b'] }),
      note: name({}),
      tags: { type: 'array', items: name({}) },
    }
    const schema = { type: 'object', properties: fields, required: ['name', 'kind', 'tags'] }
    const header = (title: string, required: boolean) => ({
      name: title,
      in: 'header',
      required,
      schema: name({ example: 'x y' }),
    })
    const post = {
      operationId: 'make',
      parameters: [header('X-Tenant', true), header('X-Other', false)],
      requestBody: { content: { 'application/json': { schema } } },
      responses: {},
    }
    const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/things': { post } } }
    writeFileSync(join(io.cwd, 'openapi.json'), JSON.stringify(document))
    const { out } = await call('make --help --spec openapi.json', io)
    expect(out).toContain("\n  petstore-sandbox call make --name <string> --kind a --tags <string> --x-tenant 'x y'\n")
  })

  it("is an operation's help, from the contract", async () => {
    const { code, out } = await call('listPets --help')
    expect(code).toBe(0)
    expect(out.replace(/\s+/g, ' ')).toContain('(a whole number from 1 to 100; default: 20)')
  })
})

describe('retries', () => {
  it('wait out a 503, and succeed', async () => {
    const sandbox = await sandboxWith({ fault: ['listPets:503*2'] })
    const { code, err } = await call('listPets --limit 1', ioFor(sandbox))
    expect(code).toBe(0)
    expect(waits.lengths).toEqual([250, 500])
    expect(err).toMatch(/^note: 503 Service Unavailable; attempt 2 of 3 in 250ms\nnote: .*attempt 3 of 3 in 500ms\n$/)
  })

  it('repeat a POST after a 5xx only with --retry-unsafe, and nothing with --no-retry', async () => {
    const sandbox = await sandboxWith({ fault: ['createPet:503*2'] })
    expect((await call(REX, ioFor(sandbox))).code).toBe(5)
    expect(await sandbox.requests()).toHaveLength(1)
    expect((await call(`${REX} --retry-unsafe`, ioFor(sandbox))).code).toBe(0)
    expect(await sandbox.requests()).toHaveLength(3)
    await sandbox.storm.start({ retryAfter: '1s' })
    waits.lengths = []
    const { code, err } = await call('listPets --no-retry', ioFor(sandbox))
    expect({ code, waits: waits.lengths }).toEqual({ code: 4, waits: [] })
    expect(errorIn(err)).toMatchObject({ status: 429, attempts: 1 })
  })

  it('give up at once on a ban that is longer than allowed, and say when to come back', async () => {
    const sandbox = await sandboxWith()
    await sandbox.ban('sandbox')
    const { err } = await call('listPets', ioFor(sandbox))
    expect(waits.lengths).toEqual([])
    const hint = expect.stringContaining('Try again in 300 s')
    expect(errorIn(err)).toMatchObject({ exit: 4, code: 'api_key_banned', retryAfter: 300, attempts: 1, hint })
  })

  it('end at once at Ctrl-C, in a wait too', async () => {
    const io = ioFor(await sandboxWith({ fault: ['listPets:503'] }))
    waits.meanwhile = () => io.signal('SIGINT')
    expect(await call('listPets', io)).toMatchObject({ code: 130, out: '' })
    expect(waits.lengths).toHaveLength(1)
  })
})

it.each<[what: string, line: string, error: { code?: string; title?: string; attempts?: number; hint?: RegExp }]>([
  ['that is dropped', 'getPet 1', { code: 'no_response', attempts: 3 }],
  ['that takes too long', 'listPets --timeout 50ms', { title: 'TIMEOUT', attempts: 1, hint: /--timeout/ }],
  ['that breaks off in the middle', 'listOrders', { code: 'no_response' }],
  ['from a server', 'listPets --base-url http://127.0.0.1:9/v1', { title: 'ECONNREFUSED', hint: /sandbox serve/ }],
])('no response is one %s', async (_what, line, error) => {
  const fault = ['getPet:connection-reset', 'listPets:hang', 'listOrders:malformed-chunk']
  const { code, out, err } = await call(line, ioFor(await sandboxWith({ fault })))
  expect({ code, out }).toEqual({ code: 7, out: '' })
  const hint = expect.stringMatching(error.hint ?? /./)
  expect(errorIn(err)).toMatchObject({ exit: 7, ...error, hint })
})

describe('odd responses', () => {
  /** Calls a server with one response. */
  async function called(reply: string, flags = '') {
    const origin = await hostileServer((socket) => socket.end(reply))
    return call(`listPets --base-url ${origin}/v1 ${flags}`)
  }

  it('are not followed where they redirect', async () => {
    const reply = 'HTTP/1.1 302 Found\r\nLocation: http://elsewhere.invalid/\r\nContent-Length: 0\r\n\r\n'
    const hint = expect.stringContaining('elsewhere.invalid')
    expect(errorIn((await called(reply)).err)).toMatchObject({ exit: 3, status: 302, hint })
  })

  it('are shown as received if they are not JSON', async () => {
    const { code, out, err } = await called('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>', '-o json')
    expect({ code, out }).toEqual({ code: 0, out: '<html>' })
    expect(err).toContain('not JSON')
  })

  it.each([
    ['HTTP/1.1 099 Weird', 7],
    ['HTTP/1.1 600 Weird', 5],
  ])('maps the status line %s to exit code %i', async (head, exit) => {
    const { code, err } = await called(`${head}\r\nContent-Length: 2\r\n\r\n{}`)
    expect(code).toBe(exit)
    expect(errorIn(err)).toMatchObject({ exit })
  })

  it('are read up to --max-body, and no further', async () => {
    const { err } = await called('HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n', '--max-body 1KiB')
    expect(errorIn(err)).toMatchObject({
      ...{ exit: 7, title: 'TOO_LARGE', attempts: 1 },
      detail: expect.stringContaining('the response is larger than 1KiB'),
      hint: expect.stringContaining('--max-body'),
    })
  })

  it('are printed as received if they are deeply nested', async () => {
    const body = '{"a":'.repeat(5000) + 1 + '}'.repeat(5000)
    const rest = `Content-Length: ${body.length}\r\n\r\n${body}`
    for (const output of ['json', 'yaml', 'table'])
      expect(await called(`HTTP/1.1 200 OK\r\n${rest}`, `-o ${output}`)).toMatchObject({ code: 0, out: body })
    expect((await called(`HTTP/1.1 500 Oh\r\n${rest}`, '--check')).err).not.toContain('INTERNAL')
  })
})

const parameters = [
  { name: 'thingId', in: 'path', required: true, schema: { type: 'string' } },
  { name: 'timeout', in: 'query', schema: { type: 'integer' } },
  { name: 'tagNames', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
]
const getThing = { operationId: 'getThing', parameters, responses: { 200: { description: 'ok' } } }
const paths = { '/things/{thingId}': { get: getThing } }
const SPEC = JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths })

it.each(['before', 'after'])(
  'another contract, given with --spec has its own operations; its names win, ours go on as --cli-… (%s)',
  async (where) => {
    const io = ioFor()
    writeFileSync(join(io.cwd, 'spec.json'), SPEC)
    const spec = `--spec ${join(io.cwd, 'spec.json')}`
    const words = 'getThing a/b --timeout 5 --cli-timeout 9s --tag-names x --tag-names y&z -n'
    const { code, out, err } = await call(where === 'before' ? `${spec} ${words}` : `${words} ${spec}`, io)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('GET http://127.0.0.1:4010/things/a%2Fb?timeout=5&tagNames=x&tagNames=y%26z\n')
    expect((await call(`${spec} --list`)).out).toContain('getThing')
    expect((await call(`${spec} listPets`)).code).toBe(2)
  },
)

describe('the key of a contract without a header for it', () => {
  const KEY = 'hush-hush-hush'
  const REFERENCE = '$PETSTORE_API_KEY'

  /** A real service, which knows no stand-in. */
  async function serviceWith(scheme: object) {
    const seen: { readonly url: string; readonly authorization?: string; readonly cookie?: string }[] = []
    const server = createServer((request, response) => {
      const { authorization, cookie } = request.headers
      seen.push({ url: request.url ?? '', ...(authorization && { authorization }), ...(cookie && { cookie }) })
      response.setHeader('content-type', 'application/json').end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const parameters = [{ name: 'a', in: 'query', schema: { type: 'string' } }]
    const security = [{ key: [] }]
    const listUsers = { operationId: 'listUsers', parameters, security, responses: { 200: { description: 'ok' } } }
    const document = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      components: { securitySchemes: { key: scheme } },
    }
    const spec = temporaryFile('spec.json', JSON.stringify({ ...document, paths: { '/users': { get: listUsers } } }))
    const { port } = server.address() as AddressInfo
    return { seen, flags: `--spec ${spec} --base-url http://127.0.0.1:${port} --key ${KEY}` }
  }

  it.each([
    ['a query', { type: 'apiKey', in: 'query', name: 'appid' }, `&appid=${KEY}`, {}, `&appid='"${REFERENCE}"`],
    [
      'a cookie',
      { type: 'apiKey', in: 'cookie', name: 'sid' },
      '',
      { cookie: `sid=${KEY}` },
      `"Cookie: sid=${REFERENCE}"`,
    ],
    [
      'Basic',
      { type: 'http', scheme: 'basic' },
      '',
      { authorization: `Basic ${btoa(`${KEY}:`)}` },
      "'Authorization: ***'",
    ],
    [
      'a scheme',
      { type: 'http', scheme: 'Token' },
      '',
      { authorization: `Token ${KEY}` },
      `"Authorization: Token ${REFERENCE}"`,
    ],
  ])('is sent where the contract has it, and not shown: %s', async (_, scheme, query, headers, shown) => {
    const { seen, flags } = await serviceWith(scheme)
    const { code, err } = await call(`listUsers --a 1 -v ${flags}`)
    expect({ code, seen }).toEqual({ code: 0, seen: [{ url: `/users?a=1${query}`, ...headers }] })
    const curl = await call(`listUsers --a 1 --curl ${flags}`)
    expect(curl.out).toContain(shown)
    const dry = await call(`listUsers --a 1 -n ${flags}`)
    expect(dry.out).toContain(query === '' ? '/users?a=1\n' : `/users?a=1&appid=${REFERENCE}\n`)
    const lost = await call(`listUsers --a 1 ${flags.replace(/:\d+/, ':1')}`)
    expect(JSON.stringify([err, curl, dry, lost])).not.toMatch(/hush|aHVza/)
    seen.length = 0
    await run(`verify ${flags}`, ioFor())
    expect(seen).toContainEqual({ url: `/users${query.replace('&', '?')}`, ...headers })
    expect(JSON.stringify(seen)).not.toContain('Bearer')
  })

  it('is not added to a query that has one', async () => {
    const { seen, flags } = await serviceWith({ type: 'apiKey', in: 'query', name: 'appid' })
    expect(await call(`GET /users?appid=mine ${flags}`)).toMatchObject({ code: 0 })
    expect(seen).toEqual([{ url: '/users?appid=mine' }])
  })
})

describe('the contract of the running sandbox', () => {
  it('has the operations and bounds that call knows, where the sandbox serves one of its own', async () => {
    const sandbox = await sandboxWith({ spec: join(packageDirectory, 'test/contract/specs/fuller.yaml') })
    const known = (line: string) => call(line, ioFor(sandbox))
    expect((await known('--list')).out).toContain('listCategories')
    expect((await known('--help')).out).toContain('listCategories')
    expect((await known('listCategories')).code).toBe(0)
    expect((await known('listPets --limit 50')).code).toBe(0)
    expect((await known('listPets --limit 51')).code).toBe(2)
    const noSandboxHere = ioFor(undefined, { XDG_CONFIG_HOME: temporaryFolder() })
    expect((await call(`listCategories --key sandbox --base-url ${sandbox.baseUrl}`, noSandboxHere)).code).toBe(0)
    expect((await known(`listCategories --spec ${join(packageDirectory, 'openapi.yaml')}`)).code).toBe(2)
    const noSandbox = { XDG_CONFIG_HOME: temporaryFolder(), PETSTORE_SANDBOX_URL: 'http://127.0.0.1:1' }
    expect((await call('--list', ioFor(undefined, noSandbox))).out).toContain('listOrders')
  })

  it.each(['target', 'base-url', 'spec'])('has its own --%s, and ours with --cli- in front of it', async (flag) => {
    const name = flag === 'base-url' ? 'baseUrl' : flag
    const query = [{ name, in: 'query', schema: { type: 'string' } }]
    const listUsers = { operationId: 'listUsers', parameters: query, responses: { 200: { description: 'ok' } } }
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/users': { get: listUsers } } }
    const sandbox = await sandboxWith({ spec: temporaryFile('users.json', JSON.stringify(document)) })
    const sent = { code: 0, out: expect.stringContaining(`GET ${sandbox.baseUrl}/users?${name}=foo\n`) }
    expect(await call(`listUsers --${flag} foo -n`, ioFor(sandbox))).toMatchObject(sent)
    const elsewhere = ioFor(undefined, { PETSTORE_SANDBOX_URL: 'http://127.0.0.1:1' })
    const own = flag === 'base-url' ? '--cli-base-url' : '--base-url'
    const spec = flag === 'spec' ? '--cli-spec' : '--spec'
    const file = temporaryFile('again.json', JSON.stringify(document))
    const line = `listUsers ${spec} ${file} --${flag} foo ${own} ${sandbox.baseUrl} -n`
    expect(await call(line, elsewhere)).toMatchObject(sent)
  })

  it('is not read again where it is the packaged one', async () => {
    const { controlUrl } = await sandboxWith()
    expect(await servedContract(controlUrl, undefined)).toBeUndefined()
  })
})

it('refuses to write to a sandbox that was neither started in this folder nor named', async () => {
  const io = ioFor(undefined, { XDG_CONFIG_HOME: temporaryFolder() })
  const { code, err } = await call('createPet --name Rex --category-id 1', io)
  expect([code, err]).toEqual([7, expect.stringMatching(/^NO_SANDBOX: No sandbox was started in this folder/m)])
})

describe('--key', () => {
  it('is sent, and shown by neither --verbose nor --curl', async () => {
    const sandbox = await sandboxWith({ apiKey: ['my-own-key'] })
    const verbose = await call('listPets --key my-own-key -v', ioFor(sandbox, { PETSTORE_API_KEY: 'x' }))
    const curl = await call('listPets --key my-own-key --curl', ioFor(sandbox))
    expect(verbose.code).toBe(0)
    expect(verbose.err + curl.out + curl.err).not.toContain('my-own-key')
    expect((await call('listPets --key sandbox-revoked', ioFor(sandbox))).code).toBe(4)
  })

  it('names a sender, which the suggestion that ends a refusal leaves out', async () => {
    const sandbox = await sandboxWith({ storm: { rate: 1 } })
    await sandbox.space('checkout').storm.start({ rate: 1 })
    const { err } = await call('listPets --key sandbox-pro~checkout+w3 --no-retry', ioFor(sandbox))
    expect(err).toContain(' --space checkout storm stop')
    const [seen] = await sandbox.space('checkout').requests()
    expect(seen).toMatchObject({ key: 'sandbox-pro', space: 'checkout', sender: 'w3' })
  })

  it('is warned of where it goes to another machine', async () => {
    const warning = 'warning: A key given with --key is visible in '
    expect((await call('listPets --base-url https://staging.example/v1 --key a -n')).err).toContain(warning)
  })
})

it('the program ends quietly when its reader has gone', async () => {
  const sandbox = await sandboxWith()
  const script = `"${process.execPath}" "${BIN}" call listPets --limit 50 -o json | head -1`
  const env = { PATH: process.env.PATH, PETSTORE_SANDBOX_URL: sandbox.controlUrl }
  const { ended, stdout, stderr } = startProgram('sh', ['-c', script], { cwd: temporaryFolder(), env })
  expect({ code: await ended, out: stdout.text, err: stderr.text }).toEqual({ code: 0, out: '[\n', err: '' })
})

describe('call METHOD /path', () => {
  it.each([
    ['GET /pets?limit=2&status=sold', 'listPets --limit 2 --status sold'],
    ['get /pets/7', 'getPet 7'],
  ])('%s is the same as %s', async (written, named) => {
    const sandbox = await sandboxWith()
    expect(await callAt(sandbox, written)).toEqual(await callAt(sandbox, named))
    const [first, second] = await sandbox.requests()
    expect(first).toMatchObject({ path: second?.path, query: second?.query, operation: second?.operation })
  })

  it('sends a body, HEAD, and the query as it was written', async () => {
    const sandbox = await sandboxWith()
    const { code, out } = await callAt(sandbox, 'POST /pets --body {"name":"Rex","categoryId":1}')
    expect({ code, pet: JSON.parse(out) }).toMatchObject({ code: 0, pet: { name: 'Rex' } })
    const head = { code: 0, out: expect.stringMatching(/^HTTP 200 OK\n/) }
    expect(await callAt(sandbox, 'HEAD /pets -i')).toMatchObject(head)
    await callAt(sandbox, ['GET', '/pets?limit=2&x=é%20&x'])
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
    expect(await callAt(sandbox, line)).toEqual({ code: 2, out: '', err })
    expect(await sandbox.requests()).toEqual([])
  })
})

describe('call on a terminal', () => {
  it('shows JSON in colours, which a pipe and NO_COLOR do without', async () => {
    const sandbox = await sandboxWith()
    const shown = async (terminal: Terminal) => (await callAt(sandbox, 'GET /pets/1 -o json', terminal)).out
    const out = await shown({ columns: 80, env: { NO_COLOR: '' } })
    expect(out).toContain('\u001b[36m"id"\u001b[39m: \u001b[33m1\u001b[39m')
    const plain = await shown({ columns: 80 })
    expect(plain).not.toContain('\u001b')
    expect(await shown({ env: { NO_COLOR: '' } })).toBe(plain)
  })

  it('announces a wait, and the command that would end it', async () => {
    const sandbox = await sandboxWith({ limits: '1/min' })
    await callAt(sandbox, 'listPets')
    waits.meanwhile = async () => void (await sandbox.clock.advance('1m'))
    const { code, err } = await callAt(sandbox, 'listPets', { columns: 80 })
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
    await callAt(sandbox, 'listPets --retry 0', { env })
    const { err } = await callAt(sandbox, 'listPets --retry 0', { env })
    const { hint }: { hint: string } = JSON.parse(err).error
    if (cure === undefined) expect(hint).toMatch(/^Use another key\. The sandbox always refuses this one\.$/)
    else expect(hint).toContain(cure)
  })

  it('names the command that restores a removed operation', async () => {
    const { err } = await callAt(await sandboxWith({ sunset: 'after' }), 'getPet 1')
    const hint = 'Simulated by the sandbox (sunset). To end it, run: npx petstore-sandbox control sunset before.'
    expect(err).toContain(hint)
  })

  it('lays tables out by cells, so that none of its lines is wider than the terminal', async () => {
    const sandbox = await sandboxWith()
    for (const name of ['ねこのミケ', '👩‍👩‍👧‍👦 family', 'é'.repeat(2000), '犬'.repeat(1000)])
      await sandbox.records.add('pets', { name, categoryId: 9_223_372_036_854_775_807n })
    const { out } = await callAt(sandbox, 'listPets --limit 8', { columns: 60 })
    for (const text of [out, (await callAt(sandbox, '--list', { columns: 60 })).out])
      expect(Math.max(...text.trimEnd().split('\n').map(cellWidth))).toBeLessThanOrEqual(60)
    expect(out).toContain('ねこのミケ')
    expect(out.match(/ 9223372036854775807\b/g)).toHaveLength(4)
    expect(out.match(/…/g)?.length).toBeGreaterThanOrEqual(2)
    expect((await callAt(sandbox, 'listPets --limit 8 -o table')).out).toContain('犬'.repeat(1000))
  })
})

describe('call --curl', () => {
  const runShell = async (script: string, env: Record<string, string> = {}) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env } }
    return (await promisify(execFile)('sh', ['-c', script], options)).stdout
  }

  it('runs as printed, with the key that the sandbox has, or in the environment that it names', async () => {
    const sandbox = await sandboxWith()
    const { out, err } = await callAt(sandbox, 'listPets --limit 1 --curl')
    expect(err).toBe('')
    expect(JSON.parse(await runShell(out))).toHaveLength(1)
    const PRO = { PETSTORE_API_KEY: 'sandbox-pro' }
    const named = await callAt(sandbox, 'listPets --curl', { env: PRO })
    expect(named.out).not.toContain('sandbox-pro')
    await runShell(named.out, PRO)
    expect((await sandbox.requests()).map(({ key }) => key)).toEqual(['sandbox', 'sandbox-pro'])
  })

  it('says so where that is not set', async () => {
    const sandbox = await sandboxWith()
    const argv = ['listPets', '--curl', '--base-url', 'https://api.example/v1', '-H', 'Authorization: Bearer abc']
    const { out, err } = await callAt(sandbox, argv)
    expect(out).toContain('"Authorization: Bearer $PETSTORE_API_KEY"')
    expect(err).toContain('note: It reads the key from PETSTORE_API_KEY, which is not set here')
  })
})
