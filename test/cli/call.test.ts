import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import type { Sandbox } from '../../src/api/controls.js'
import { startSandbox } from '../../src/api/start.js'
import { servedContract } from '../../src/cli/call.js'
import { runCli } from '../../src/cli/run-cli.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Captured, type TestIo, testIo } from './test-io.js'

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
  confirms: async () => stdin.confirmed,
}))

beforeEach(() => {
  waits.lengths = []
  waits.meanwhile = () => {}
  Object.assign(stdin, { text: '', reads: 0, isTTY: false, confirmed: false })
})

async function sandboxWith(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed: 1, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** An environment without the machine's own targets. */
function ioFor(sandbox: Pick<Sandbox, 'controlUrl'> | undefined, env: TestIo['env'] = {}, tty = false): TestIo {
  const cwd = temporaryFolder()
  const own = { XDG_CONFIG_HOME: join(cwd, 'config'), HOME: cwd, NO_COLOR: '1' }
  const there = sandbox === undefined ? {} : { PETSTORE_SANDBOX_URL: sandbox.controlUrl }
  return testIo({ cwd, tty, env: { ...own, ...there, ...env } })
}

async function call(argv: readonly string[], io: TestIo) {
  const code = await runCli(['call', ...argv], io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

function errorIn(text: string): Record<string, unknown> {
  const line = text.split('\n').find((one) => one.startsWith('{"error":'))
  return JSON.parse(line ?? '{"error":{}}').error
}

/** A server that sends the same response to every client. */
async function rawServer(reply: string): Promise<{ baseUrl: string; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(reply))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { baseUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`, server }
}

describe('call', () => {
  it('prints in a pipe the body exactly as it was received', async () => {
    const sandbox = await sandboxWith()
    const body = await (
      await fetch(`${sandbox.baseUrl}/pets?limit=2`, { headers: { Authorization: 'Bearer sandbox' } })
    ).text()
    const io = ioFor(sandbox)
    expect(await call(['listPets', '--limit', '2'], io)).toEqual({ code: 0, out: body, err: '' })
    expect(stdin.reads).toBe(0)
    expect(io.listeners.size).toBe(0)
  })

  it('prints a table on a terminal, and escapes what would drive it', async () => {
    const sandbox = await sandboxWith()
    const io = ioFor(sandbox, {}, true)
    await call(['createPet', '--name', 'R\u001b[31mex', '--category-id', '1'], ioFor(sandbox))
    const { code, out } = await call(['listPets', '--limit', '1'], io)
    expect(code).toBe(0)
    expect(out).toMatch(/^id +name +categoryId\n\d+ +R\\u001b\[31mex +1\n$/)
  })

  it('keeps every digit of an int64, in every output', async () => {
    const sandbox = await sandboxWith()
    const big = '9223372036854775807'
    for (const output of ['json', 'yaml', 'table', 'raw']) {
      const argv = ['createPet', '--name', 'Rex', '--category-id', big, '-o', output]
      const { code, out } = await call(argv, ioFor(sandbox))
      expect([output, code, out.includes(big)]).toEqual([output, 0, true])
    }
    const { out } = await call(
      ['createPet', '--body', `{"name":"Rex","categoryId":${big}}`, '-o', 'yaml'],
      ioFor(sandbox),
    )
    expect(parse(out, { intAsBigInt: true })).toMatchObject({ categoryId: BigInt(big) })
  })

  it('takes a body from its flag, a file or stdin, and fields go over it', async () => {
    const sandbox = await sandboxWith()
    const io = ioFor(sandbox)
    writeFileSync(join(io.cwd, 'pet.json'), '{"name":"File","categoryId":1}')
    stdin.text = '{"name":"Stdin","categoryId":1}'
    expect((await call(['createPet', '--body', '@pet.json'], io)).out).toContain('"name":"File"')
    expect((await call(['createPet', '--body', '-'], ioFor(sandbox))).out).toContain('"name":"Stdin"')
    const both = await call(['createPet', '--body', '{"name":"A","categoryId":1}', '--name', 'B'], ioFor(sandbox))
    expect(JSON.parse(both.out)).toMatchObject({ name: 'B', categoryId: 1 })
  })

  it('puts the headers before the body with -i, and masks the key with -v', async () => {
    const sandbox = await sandboxWith()
    const io = ioFor(sandbox, { PETSTORE_API_KEY: 'sandbox-pro' })
    const { code, out, err } = await call(['listPets', '-i', '-v', '-H', 'X-Extra: 1'], io)
    expect(code).toBe(0)
    expect(out).toMatch(/^HTTP 200 OK\n(?:[\w-]+: .*\n)+\n\[/)
    expect(err).toMatch(/^> Authorization: Bearer \*\*\*$/m)
    expect(err).toMatch(/^> X-Extra: 1$/m)
    expect(err).not.toContain('sandbox-pro')
  })

  it('warns of deprecated and experimental operations', async () => {
    const sandbox = await sandboxWith()
    expect((await call(['getPet', '1'], ioFor(sandbox))).err).toContain(
      'getPet is deprecated and will be removed on 2030-12-05',
    )
    expect((await call(['listOrders'], ioFor(sandbox))).err).toContain('listOrders is experimental')
  })

  it.each([
    ['getPet', ['getPet', '999999'], 4, 'not_found', 404],
    ['a fault', ['listPets', '--retry', '0'], 5, 'simulated_fault', 503],
  ])('tells an error response of %s in one JSON line on stderr', async (_name, argv, exit, code, status) => {
    const sandbox = await sandboxWith({ fault: ['listPets:503'] })
    const result = await call(argv, ioFor(sandbox))
    expect(result).toMatchObject({ code: exit, out: '' })
    expect(errorIn(result.err)).toMatchObject({ code, status, exit, operation: argv[0], method: 'GET', body: { code } })
  })

  it('prints an error response for people on a terminal, the code last', async () => {
    const sandbox = await sandboxWith()
    const { err } = await call(['getPet', '999999'], ioFor(sandbox, {}, true))
    expect(err).toMatch(/\n {2}"code": "not_found",[\s\S]*\nnot_found: .* \(HTTP 404\)\n$/)
  })

  it('ends with 0 whatever the status if it is to be ignored', async () =>
    expect(await call(['getPet', '999999', '--ignore-status'], ioFor(await sandboxWith()))).toMatchObject({
      code: 0,
      out: '',
    }))

  it('checks the response against the contract with --check', async () => {
    const sandbox = await sandboxWith({ fault: ['listOrders:500'] })
    expect((await call(['listPets', '--check'], ioFor(sandbox))).code).toBe(0)
    const { code, err } = await call(['listOrders', '--check'], ioFor(sandbox))
    expect(code).toBe(6)
    expect(err).toContain('CONTRACT_VIOLATION: the status 500 is not documented')
  })
})

describe('what call refuses to send', () => {
  it('names every violation, and the flag of each', async () => {
    const sandbox = await sandboxWith()
    const { code, out, err } = await call(['createPet', '--category-id', '1.5', '--status', 'gone'], ioFor(sandbox))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('name is required; set it with --name')
    expect(err).toContain('categoryId must be a whole number')
    expect(err).toContain('status must be one of available, pending, sold (it is "gone")')
    expect(await sandbox.requests()).toEqual([])
  })

  it('sends it all the same with --no-validate', async () => {
    const sandbox = await sandboxWith()
    const { code, err } = await call(['listPets', '--limit', '101', '--no-validate'], ioFor(sandbox))
    expect(code).toBe(4)
    expect(errorIn(err)).toMatchObject({ code: 'invalid_request', status: 400 })
  })

  it.each([
    [['lstPets'], /UNKNOWN_OPERATION: .*did you mean listPets\? The operations are listPets, createPet/],
    [['lstPets', '--limit', '5'], /UNKNOWN_OPERATION/],
    [['getPet'], /petId/],
    [['getPet', '9223372036854775808'], /petId must be a whole number/],
    [['getPet', '..'], /cannot be part of a path/],
    [['listPets', '--limt', '5'], /--limt.*--limit/],
    [['listPets', '--retry', 'x', '--timeout', '5', '-H', 'nope'], /--header[\s\S]*--timeout/],
    [['listPets', '-o', 'xml'], /--output/],
    [['listPets', '--max-body', '1GB'], /--max-body "1GB": must be a whole number with a unit/],
    [['listPets', '--max-body', '257MiB'], /at most 256MiB/],
    [['listPets', '--max-body', '1'], /--max-body/],
    [['listPets', '--body', '{}'], /takes no body/],
    [['createPet', '--body', '@missing.json'], /missing\.json.*ENOENT/],
    [['createPet', '--body', '-', '--api-key-file', '-'], /both read stdin/],
    [['listPets', '-t', 'nowhere'], /UNKNOWN_TARGET/],
    [['--nonsense'], /--nonsense/],
    [[], /Usage: petstore-sandbox call/],
  ])('%j is wrong usage', async (argv, message) => {
    const { code, out, err } = await call(argv, ioFor(undefined))
    expect(err).toMatch(message)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('writes to production only if it is meant', async () => {
    const sandbox = await sandboxWith()
    const asProduction = (tty = false) => {
      const io = ioFor(undefined, { PETSTORE_API_KEY: 'sandbox' }, tty)
      return io
    }
    const argv = ['createPet', '--name', 'Rex', '--category-id', '1', '-t', 'production', '--base-url', sandbox.baseUrl]
    expect(await call(argv, asProduction())).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    stdin.isTTY = true
    expect(await call(argv, asProduction(true))).toMatchObject({
      code: 2,
      err: expect.stringContaining('Nothing was sent: the write was not confirmed.'),
    })
    expect(await sandbox.requests()).toEqual([])
    stdin.confirmed = true
    expect((await call(argv, asProduction(true))).code).toBe(0)
    stdin.isTTY = false
    expect((await call([...argv, '--yes'], asProduction())).code).toBe(0)
    expect((await call(['listPets', '-t', 'production', '--base-url', sandbox.baseUrl], asProduction())).code).toBe(0)
  })
})

describe('what call shows without sending', () => {
  it('is every operation, with --list', async () => {
    const { code, out } = await call(['--list'], ioFor(undefined))
    expect(code).toBe(0)
    expect(out).toMatch(/^getPet +GET \/pets\/\{petId\} +deprecated, to be removed on 2030-12-05/m)
    expect(out).toMatch(/^listOrders +GET \/store\/orders +experimental/m)
    expect(JSON.parse((await call(['--list', '-o', 'json'], ioFor(undefined))).out)).toHaveLength(
      packagedContract().operations.length,
    )
  })

  it('is the request, with --dry-run', async () => {
    const { out } = await call(
      ['listPets', '--status', 'sold', '-n', '--base-url', 'http://127.0.0.1:1/deep/v1/'],
      ioFor(undefined, { PETSTORE_API_KEY: 'secret-key' }),
    )
    expect(out).toMatch(/^GET http:\/\/127\.0\.0\.1:1\/deep\/v1\/pets\?status=sold\n/)
    expect(out).toContain('Authorization: Bearer $PETSTORE_API_KEY')
    expect(out).not.toContain('secret-key')
  })

  it("is an operation's help, from the contract", async () => {
    const { code, out } = await call(['listPets', '--help'], ioFor(undefined))
    expect(code).toBe(0)
    expect(out.replace(/\s+/g, ' ')).toContain('(a whole number from 1 to 100; default: 20)')
  })
})

describe('retries', () => {
  it('wait out a 503, and succeed', async () => {
    const sandbox = await sandboxWith({ fault: ['listPets:503*2'] })
    const { code, err } = await call(['listPets', '--limit', '1'], ioFor(sandbox))
    expect(code).toBe(0)
    expect(waits.lengths).toEqual([250, 500])
    expect(err).toMatch(/^note: 503 Service Unavailable; attempt 2 of 3 in 250ms\nnote: .*attempt 3 of 3 in 500ms\n$/)
  })

  it('never repeat a POST after a 5xx, unless told to', async () => {
    const sandbox = await sandboxWith({ fault: ['createPet:503*2'] })
    const argv = ['createPet', '--name', 'Rex', '--category-id', '1']
    expect((await call(argv, ioFor(sandbox))).code).toBe(5)
    expect(await sandbox.requests()).toHaveLength(1)
    expect((await call([...argv, '--retry-unsafe'], ioFor(sandbox))).code).toBe(0)
    expect(await sandbox.requests()).toHaveLength(3)
  })

  it('give up at once on a ban that is longer than allowed, and say when to come back', async () => {
    const sandbox = await sandboxWith()
    await sandbox.ban('sandbox')
    const { code, err } = await call(['listPets'], ioFor(sandbox))
    expect(code).toBe(4)
    expect(waits.lengths).toEqual([])
    expect(errorIn(err)).toMatchObject({
      code: 'api_key_banned',
      retryAfter: 300,
      attempts: 1,
      hint: expect.stringContaining('Try again in 300 s'),
    })
  })

  it('end at once at Ctrl-C, in a wait too', async () => {
    const sandbox = await sandboxWith({ fault: ['listPets:503'] })
    const io = ioFor(sandbox)
    waits.meanwhile = () => io.signal('SIGINT')
    expect(await call(['listPets'], io)).toMatchObject({ code: 130, out: '' })
    expect(waits.lengths).toHaveLength(1)
  })
})

describe('no response', () => {
  it('is a dropped connection, tried again for GET only', async () => {
    const sandbox = await sandboxWith({ fault: ['*:connection-reset'] })
    const { code, err } = await call(['listPets'], ioFor(sandbox))
    expect(code).toBe(7)
    expect(errorIn(err)).toMatchObject({ code: 'no_response', attempts: 3, exit: 7 })
    expect((await call(['createPet', '--name', 'Rex', '--category-id', '1'], ioFor(sandbox))).code).toBe(7)
    expect(await sandbox.requests({ operation: 'createPet' })).toHaveLength(1)
  })

  it('is one that takes too long', async () => {
    const sandbox = await sandboxWith({ fault: ['*:hang'] })
    const { code, err } = await call(['listPets', '--timeout', '50ms'], ioFor(sandbox))
    expect(code).toBe(7)
    expect(errorIn(err)).toMatchObject({ title: 'TIMEOUT', attempts: 1, hint: expect.stringContaining('--timeout') })
  })

  it('is one that breaks off in the middle', async () =>
    expect(await call(['listPets'], ioFor(await sandboxWith({ fault: ['*:malformed-chunk'] })))).toMatchObject({
      code: 7,
      out: '',
    }))

  it('is an unreachable server', async () => {
    const { baseUrl, server } = await rawServer('')
    server.close()
    await once(server, 'close')
    const { code, err } = await call(['listPets', '--base-url', baseUrl], ioFor(undefined))
    expect(code).toBe(7)
    expect(waits.lengths).toEqual([])
    expect(errorIn(err)).toMatchObject({
      title: 'ECONNREFUSED',
      hint: expect.stringContaining('petstore-sandbox serve'),
    })
  })
})

describe('odd responses', () => {
  it('are not followed where they redirect', async () => {
    const { baseUrl } = await rawServer(
      'HTTP/1.1 302 Found\r\nLocation: http://elsewhere.invalid/\r\nContent-Length: 0\r\n\r\n',
    )
    const { code, err } = await call(['listPets', '--base-url', baseUrl], ioFor(undefined))
    expect(code).toBe(3)
    expect(errorIn(err)).toMatchObject({ status: 302, hint: expect.stringContaining('elsewhere.invalid') })
  })

  it('are shown as received if they are not JSON', async () => {
    const { baseUrl } = await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>')
    const { code, out, err } = await call(['listPets', '--base-url', baseUrl, '-o', 'json'], ioFor(undefined))
    expect({ code, out }).toEqual({ code: 0, out: '<html>' })
    expect(err).toContain('not JSON')
  })

  it.each([
    ['HTTP/1.1 000 Weird', 7],
    ['HTTP/1.1 099 Weird', 7],
    ['HTTP/1.1 600 Weird', 5],
    ['HTTP/1.1 999 Weird', 5],
  ])('maps the status line %s to exit code %i', async (head, exit) => {
    const { baseUrl } = await rawServer(`${head}\r\nContent-Length: 2\r\n\r\n{}`)
    const { code, err } = await call(['listPets', '--base-url', baseUrl], ioFor(undefined))
    expect(code).toBe(exit)
    expect(errorIn(err)).toMatchObject({ exit })
  })

  it('are read up to --max-body, and no further', async () => {
    const { baseUrl } = await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n')
    const { code, err } = await call(['listPets', '--base-url', baseUrl, '--max-body', '1KiB'], ioFor(undefined))
    expect(code).toBe(7)
    expect(errorIn(err)).toMatchObject({
      title: 'TOO_LARGE',
      attempts: 1,
      detail: expect.stringContaining('the response is larger than 1KiB'),
      hint: expect.stringContaining('--max-body'),
    })
  })

  it.each(['[', '{"a":'])('that are nested beyond measure are given as they came: %s', async (open) => {
    const body = open.repeat(5000) + (open === '[' ? ']' : '1}').repeat(5000).replace(/(?<=1})1/g, '')
    const { baseUrl } = await rawServer(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    for (const output of ['json', 'yaml', 'table']) {
      const { code, out } = await call(['listPets', '--base-url', baseUrl, '-o', output], ioFor(undefined))
      expect({ code, out }).toEqual({ code: 0, out: body })
    }
    const refused = await rawServer(`HTTP/1.1 500 Oh\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect((await call(['listPets', '--base-url', refused.baseUrl, '--check'], ioFor(undefined))).err).not.toContain(
      'INTERNAL',
    )
  })
})

describe('another contract, given with --spec', () => {
  const SPEC = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: {
      '/things/{thingId}': {
        get: {
          operationId: 'getThing',
          parameters: [
            { name: 'thingId', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'timeout', in: 'query', schema: { type: 'integer' } },
            { name: 'tagNames', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          ],
          responses: { 200: { description: 'ok' } },
        },
      },
    },
  })

  it.each(['before', 'after'])('has its own operations; its names win, ours go on as --cli-… (%s)', async (where) => {
    const io = ioFor(undefined)
    const file = join(io.cwd, 'spec.json')
    writeFileSync(file, SPEC)
    const words = [
      'getThing',
      'a/b',
      '--timeout',
      '5',
      '--cli-timeout',
      '9s',
      '--tag-names',
      'x',
      '--tag-names',
      'y&z',
      '-n',
    ]
    const spec = ['--spec', file]
    const { code, out, err } = await call(where === 'before' ? [...spec, ...words] : [...words, ...spec], io)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('GET http://127.0.0.1:4010/v1/things/a%2Fb?timeout=5&tagNames=x&tagNames=y%26z\n')
    expect((await call([...spec, '--list'], ioFor(undefined))).out).toContain('getThing')
    expect((await call([...spec, 'listPets'], ioFor(undefined))).code).toBe(2)
  })

  it('is refused where it cannot be read', async () =>
    expect((await call(['--spec', 'missing.yaml', '--list'], ioFor(undefined))).err).toMatch(
      /SPEC_INVALID: missing\.yaml/,
    ))
})

describe('the contract of the running sandbox', () => {
  const FULLER = join(packageDirectory, 'test/contract/specs/fuller.yaml')

  it('has the operations and bounds that call knows, where the sandbox serves one of its own', async () => {
    const sandbox = await sandboxWith({ spec: FULLER })
    const known = async (...argv: string[]) => await call(argv, ioFor(sandbox))
    expect((await known('--list')).out).toContain('listCategories')
    expect((await known('--help')).out).toContain('listCategories')
    expect((await known('listCategories')).code).toBe(0)
    expect(await known('listPets', '--limit', '50')).toMatchObject({ code: 0 })
    expect(await known('listPets', '--limit', '51')).toMatchObject({ code: 2 })
    const other = ['--base-url', sandbox.baseUrl]
    expect((await known('listCategories', ...other)).err).toMatch(/^UNKNOWN_OPERATION: /)
    expect((await known('listCategories', '--spec', join(packageDirectory, 'openapi.yaml'))).code).toBe(2)
    const noSandbox = { XDG_CONFIG_HOME: temporaryFolder(), PETSTORE_SANDBOX_URL: 'http://127.0.0.1:1' }
    expect((await call(['--list'], ioFor(undefined, noSandbox))).out).toContain('listOrders')
  })

  it('is not read again where it is the packaged one', async () => {
    const { controlUrl } = await sandboxWith()
    const first = await fetch(`${controlUrl}/openapi.json`)
    const again = await fetch(`${controlUrl}/openapi.json`, {
      headers: { 'if-none-match': String(first.headers.get('etag')) },
    })
    expect([first.status, again.status, await again.text()]).toEqual([200, 304, ''])
    expect(await servedContract(controlUrl, undefined)).toBeUndefined()
  })
})

describe('--key', () => {
  it('is sent, and shown by neither --verbose nor --curl', async () => {
    const sandbox = await sandboxWith({ apiKey: ['my-own-key'] })
    const { code, err } = await call(
      ['listPets', '--key', 'my-own-key', '-v'],
      ioFor(sandbox, { PETSTORE_API_KEY: 'x' }),
    )
    expect({ code, shown: err.includes('my-own-key') }).toEqual({ code: 0, shown: false })
    const curl = await call(['listPets', '--key', 'my-own-key', '--curl'], ioFor(sandbox))
    expect(curl.out + curl.err).not.toContain('my-own-key')
    expect((await call(['listPets', '--key', 'sandbox-revoked'], ioFor(sandbox))).code).toBe(4)
  })

  it('names a sender, which the suggestion that ends a refusal leaves out', async () => {
    const sandbox = await sandboxWith({ storm: { rate: 1 } })
    await sandbox.space('checkout').storm.start({ rate: 1 })
    const { err } = await call(['listPets', '--key', 'sandbox-pro~checkout+w3', '--no-retry'], ioFor(sandbox))
    expect(err).toContain(' --space checkout storm stop')
    const [seen] = await sandbox.space('checkout').requests()
    expect(seen).toMatchObject({ key: 'sandbox-pro', space: 'checkout', sender: 'w3' })
  })

  it.each([
    [['--key', 'a', '--api-key-file', 'b'], /^INVALID_TARGET: --key and --api-key-file cannot both be given\n$/],
    [['--key', 'a b'], /^INVALID_TARGET: --key: must contain a single API key/],
  ])('is refused: %j', async (argv, err) => {
    expect(await call(['listPets', ...argv], ioFor(undefined))).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(err),
    })
  })

  it('is warned of where it goes to another machine', async () => {
    const argv = ['listPets', '--base-url', 'https://staging.example/v1', '--key', 'a', '-n']
    expect((await call(argv, ioFor(undefined))).err).toContain('warning: A key given with --key is visible in ')
  })
})

describe('--no-retry', () => {
  it('shows the first response, a 429 too', async () => {
    const sandbox = await sandboxWith({ storm: '1,retry-after=1s' })
    const { code, err } = await call(['listPets', '--no-retry'], ioFor(sandbox))
    expect({ code, waits: waits.lengths }).toEqual({ code: 4, waits: [] })
    expect(JSON.parse(err)).toMatchObject({ error: { status: 429, attempts: 1 } })
    expect(await sandbox.requests()).toHaveLength(1)
  })
})

describe('the program', () => {
  it('ends quietly when its reader has gone', async () => {
    const sandbox = await sandboxWith()
    const bin = join(packageDirectory, 'bin/petstore-sandbox.js')
    const script = `"${process.execPath}" "${bin}" call listPets --limit 50 -o json | head -1`
    const env = { PATH: process.env.PATH, PETSTORE_SANDBOX_URL: sandbox.controlUrl, XDG_CONFIG_HOME: temporaryFolder() }
    const child = spawn('sh', ['-c', script], { env })
    const [out, err] = [new Captured(), new Captured()]
    child.stdout.pipe(out)
    child.stderr.pipe(err)
    const [code] = await once(child, 'close')
    expect({ code, out: out.text, err: err.text }).toEqual({ code: 0, out: '[\n', err: '' })
  })
})
