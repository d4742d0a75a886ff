import { createServer, type IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { packageVersion } from '../../src/system/package-files.js'
import { listenLocally } from '../support/listen-locally.js'
import { testIo } from './test-io.js'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: ReturnType<typeof JSON.parse>
}
type Span = Readonly<Record<'traceId' | 'startTimeUnixNano' | 'endTimeUnixNano', string>> & {
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

/** A collector of OTLP/JSON. */
async function collector(status = 200) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    received.push({ path: String(request.url), headers: request.headers, body })
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  return {
    url: await listenLocally(server),
    received,
    spans: (): readonly Span[] => received.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans),
  }
}

/** Runs `serve` until `use` is done. @returns its warnings */
async function served(
  env: Readonly<Record<string, string>>,
  use: (baseUrl: string) => Promise<unknown>,
  ...flags: readonly string[]
): Promise<readonly string[]> {
  const io = testIo({ env })
  const code = runCli(['serve', '--port', '0', '--in-memory', '--log', 'json', ...flags], io)
  const [, baseUrl = ''] = await io.stderr.seen(/"baseUrl":"([^"]+)"/)
  await use(baseUrl)
  io.signal('SIGTERM')
  expect(await code).toBe(0)
  return [...io.stderr.text.matchAll(/"event":"warning","message":"(.*)"/g)].map(([, message = '']) => message)
}

const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, { headers: { authorization: 'Bearer sandbox', ...headers } }).then((response) => response.text())

function attributesOf({ attributes }: Span): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('serve sends a span for each exchange, with the attributes of HTTP, reason and label of the key', async () => {
    const { url, received, spans } = await collector()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,tenant=c' }
    const started = Date.now()
    let host = ''
    const act = async (baseUrl: string) => {
      host = new URL(baseUrl).host
      await get(`${baseUrl}/pets/1?full=yes`, { 'user-agent': 'shop/1', authorization: 'Bearer my-secret-key' })
      await get(`${baseUrl}/pets`)
      await get(`${baseUrl}/pets`)
    }
    await served(env, act, '--api-key', 'mine=my-secret-key', '--limits', '1/min', '--fault', 'getPet:503')
    expect(received[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/json', 'api-key': 'a b', tenant: 'c' },
    })
    const attributes = [
      { key: 'service.name', value: { stringValue: 'petstore-sandbox' } },
      { key: 'service.version', value: { stringValue: packageVersion } },
    ]
    const scope = { name: 'petstore-sandbox', version: packageVersion }
    const scopeSpans = [{ scope, spans: expect.any(Array) }]
    expect(received[0]?.body).toEqual({ resourceSpans: [{ resource: { attributes }, scopeSpans }] })
    expect(JSON.stringify(received)).not.toContain('my-secret-key')
    const [failed, listed, refused] = spans()
    const [address, port] = host.split(':')
    expect(failed).toEqual({
      traceId: expect.stringMatching(/^(?!0+$)[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^(?!0+$)[0-9a-f]{16}$/),
      ...{ name: 'GET /v1/pets/{petId}', kind: 2, status: { code: 2 } },
      startTimeUnixNano: expect.stringMatching(/^\d{19}$/),
      endTimeUnixNano: expect.stringMatching(/^\d{19}$/),
      attributes: expect.arrayContaining([{ key: 'http.response.status_code', value: { intValue: '503' } }]),
    })
    expect(attributesOf(failed as Span)).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/pets/{petId}',
      'http.response.status_code': '503',
      'url.scheme': 'http',
      'url.path': '/v1/pets/1',
      'url.query': 'full=yes',
      'server.address': address,
      'server.port': port,
      'user_agent.original': 'shop/1',
      'error.type': '503',
      'petstore_sandbox.operation': 'getPet',
      'petstore_sandbox.reason': 'fault',
      'petstore_sandbox.key': 'mine',
    })
    expect(listed).toMatchObject({ name: 'GET /v1/pets', status: {} })
    expect(attributesOf(refused as Span)).toMatchObject({
      'http.response.status_code': '429',
      'petstore_sandbox.reason': 'quota-minute',
      'petstore_sandbox.key': 'sandbox',
    })
    expect(new Set(spans().map(({ traceId }) => traceId)).size).toBe(3)
    for (const { startTimeUnixNano, endTimeUnixNano } of spans()) {
      expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(started) * 1_000_000n)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
    }
  })

  it('a span continues the trace of its client, and is not sent if the client does not sample it', async () => {
    const { url, spans } = await collector()
    const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
    await served({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, async (baseUrl) => {
      await get(`${baseUrl}/pets`, { traceparent: `00-${trace}-${parent}-01`, tracestate: 'a=1' })
      await get(`${baseUrl}/pets`, { traceparent: `00-${trace}-${parent}-00` })
      await get(`${baseUrl}/pets`, { traceparent: `00-${'0'.repeat(32)}-${parent}-01` })
    })
    expect(spans()).toEqual([
      expect.objectContaining({ traceId: trace, parentSpanId: parent, traceState: 'a=1' }),
      expect.not.objectContaining({ parentSpanId: parent }),
    ])
  })

  it('exec sends the spans of its run before it ends', async () => {
    const { url, received, spans } = await collector()
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/mine`, OTEL_SERVICE_NAME: 'shop-tests' }
    const script = `await fetch(process.env.PETSTORE_BASE_URL + '/pets')`
    const io = testIo({ env: { PATH: process.env.PATH, ...env } })
    expect(await runCli(['exec', '--', process.execPath, '--input-type=module', '-e', script], io)).toBe(0)
    expect(received.map(({ path }) => path)).toEqual(['/mine'])
    expect(received[0]?.body.resourceSpans[0].resource.attributes[0].value).toEqual({ stringValue: 'shop-tests' })
    expect(attributesOf(spans()[0] as Span)).toMatchObject({ 'petstore_sandbox.key': 'none' })
  })

  it.each([
    ['refuses', (url: string) => url, /were lost: the collector returned 503\. Later losses are not reported\.$/],
    [
      'is not there',
      () => 'http://127.0.0.1:2',
      /were lost: connect ECONNREFUSED .*\. Later losses are not reported\.$/,
    ],
  ])('a collector that %s fails no request, and is reported once', async (_case, address, message) => {
    const url = address((await collector(503)).url)
    const warnings = await served({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, async (baseUrl) => {
      const statuses = await Promise.all(
        Array.from({ length: 300 }, () => fetch(`${baseUrl}/pets`).then(({ status }) => status)),
      )
      expect(new Set(statuses)).toEqual(new Set([401, 429]))
    })
    expect(warnings).toEqual([expect.stringMatching(message)])
  })

  it('a collector that hangs does not hold up the stop', async () => {
    const url = await listenLocally(createServer(() => {}))
    const warnings = await served({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, (baseUrl) => get(`${baseUrl}/pets`))
    expect(warnings).toEqual([expect.stringMatching(/^Spans for \S+ were lost: /)])
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be .* No spans are sent\.$/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:mine@c' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be (?!.*mine)/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_EXPORTER_OTLP_HEADERS: 'a b=mine' },
      /^OTEL_EXPORTER_OTLP_HEADERS must be (?!.*mine)/,
    ],
  ])('%j is reported, and the sandbox serves without spans', async (env, message) => {
    expect(await served(env, (baseUrl) => get(`${baseUrl}/pets`))).toEqual([expect.stringMatching(message)])
  })

  it('sends nothing with OTEL_SDK_DISABLED=true', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:2', OTEL_SDK_DISABLED: 'true' }
    expect(await served(env, (baseUrl) => get(`${baseUrl}/pets`))).toEqual([])
  })
})
