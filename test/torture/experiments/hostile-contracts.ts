import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Experiment, Server, Trial } from '../trial.js'
import { ask, type RequestParts, statusOf } from '../wire.js'

/** Contracts with hostile content. Each is refused with its file name, or every request gets a response. */
export const hostileContracts: Experiment = {
  counts: 'contracts and requests',
  async run(trial) {
    let refused = 0
    const count = trial.size(25, 4)
    for (let i = 0; i < count; i++) {
      const folder = trial.folder()
      // A refusal hides later problems, so most contracts have one kind of harm only.
      const document = contract(trial, trial.chance.next() < 0.3)
      writeFileSync(join(folder, 'contract.json'), document)
      const flags = ['--in-memory', '--no-rate-limit', '--spec', 'contract.json', ...trial.oneOf([[], ['--strict']])]
      const server = trial.begin(folder, flags)
      if (await serves(server)) await torment(trial, server, document)
      else {
        refused++
        const { code } = await server.end()
        const isTold =
          code === 2 && /^SPEC_INVALID: /m.test(server.said) && !/[^\n\x20-\x7e\x80-\uffff]/.test(server.said)
        trial.check(isTold && server.said.length < 2000, () => `${code}: ${server.said.slice(0, 300)} for ${document}`)
      }
    }
    trial.note(`${refused} of ${count} contracts refused`)
  },
}

function serves(server: Server): Promise<boolean> {
  return server.ready.then(
    () => true,
    () => false,
  )
}

/** Calls each operation in several ways, and looks each time whether the sandbox still hears others. */
async function torment(trial: Trial, server: Server, document: string): Promise<void> {
  const { paths }: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(document)
  for (const [path, item] of Object.entries(paths)) {
    const method = Object.keys(item)[0]?.toUpperCase() ?? 'GET'
    for (const parts of waysToCall(trial)) {
      const target = `/v1${path.replace('{id}', '1')}?a=${'a'.repeat(40)}!`
      const answer = ask(server.port, method, target, parts)
      const health = await ask(server.port, 'GET', '/__sandbox/health')
      const status = statusOf(await answer)
      const isWell = typeof status === 'number' && status >= 200 && statusOf(health) === 200
      trial.check(isWell, () => `${method} ${path}: ${status}; ${server.said.slice(-300)} for ${document}`)
    }
  }
}

function waysToCall(trial: Trial): readonly RequestParts[] {
  const code = trial.oneOf([101, 204, 205, 304, 200, 599, 429])
  return [
    {},
    { body: '{"a":' },
    { body: `{"a":"${'a'.repeat(40)}!","b":[${'['.repeat(500)}${']'.repeat(500)}]}` },
    { headers: `Prefer: code=${code}\r\n` },
  ]
}

const HARMLESS = ['ok', 'ü', '', ' x ', 1, true, null, 1.5]
const HARMFUL = ['✓', 'a\r\nX-Evil: 1', '\u0000', 'x'.repeat(30_000), { a: '✓' }, ['a', 'b\n'], 1e308, '\ud800']
const NAMES = ['X-Note', 'Trailer', 'Transfer-Encoding', 'Connection', 'Set-Cookie', 'Content-Length', 'Keep-Alive']
const HARMFUL_NAMES = ['x note', 'x-ü', 'X\r\nY', '', '__proto__', 'constructor', ':status']
const STATUSES = ['200', '201', '204', '205', '304', '301', '404', '599', '101', 'default', '2XX', '4XX']
const HARMFUL_STATUSES = ['1000', '600', '99', '0', 'abc', '-1', '2e2', '__proto__']
const MEDIA_TYPES = [
  'application/json',
  'text/plain',
  '*/*',
  'application/xml',
  'image/png',
  'text/html; charset=utf-8',
]
const HARMFUL_MEDIA_TYPES = ['json', 'text/plain;\n', 'application/x-✓', '', '/', 'a/b/c', 'text/plain; a=✓']
const PATTERNS = ['^a+$', '^(a+)+$', '^(?=a)a*$', '(a)\\1', '[', 'a{2000}', '^[\\w-]{1,64}$', '(.*)*x', '\\p{L}']

/** A contract as JSON. @param isBad whether it also has what must be refused when it is read */
function contract(trial: Trial, isBad: boolean): string {
  const pick = <T>(good: readonly T[], bad: readonly T[]) =>
    trial.oneOf(isBad && trial.chance.next() < 0.2 ? bad : good)
  const schema = (depth = 0): object => {
    const kind = trial.integer(0, depth > 3 ? 5 : 10)
    if (kind === 0) return { type: 'string', pattern: trial.oneOf(PATTERNS) }
    if (kind === 1) return { allOf: [{ type: 'string', default: trial.oneOf([...HARMLESS, ...HARMFUL]) }] }
    if (kind === 2) return { type: 'integer', format: 'int64', minimum: -1e308, maximum: 1e308 }
    if (kind === 3) return { $ref: trial.oneOf(['#/components/schemas/Self', '#/components/schemas/Many']) }
    if (kind === 4) return { type: 'string', minLength: trial.integer(0, 3), enum: ['a', '✓', null] }
    if (kind === 5) return { type: 'array', items: schema(depth + 1), minItems: trial.oneOf([0, 1, 100_000]) }
    if (kind === 6) return { oneOf: [schema(depth + 1), schema(depth + 1)], not: schema(depth + 1) }
    if (kind === 7) return { type: 'object', patternProperties: { [trial.oneOf(PATTERNS)]: schema(depth + 1) } }
    const properties = { a: schema(depth + 1), __proto__x: schema(depth + 1), constructor: schema(depth + 1) }
    return { type: 'object', properties, required: ['a'], additionalProperties: trial.chance.next() < 0.5 }
  }
  const headers = () =>
    entries(trial.integer(0, 3), () => [
      pick(NAMES, HARMFUL_NAMES),
      trial.chance.next() < 0.5
        ? { schema: schema() }
        : { schema: { type: 'string' }, example: pick<unknown>(HARMLESS, HARMFUL) },
    ])
  const content = () =>
    entries(trial.integer(0, 3), () => [
      pick(MEDIA_TYPES, HARMFUL_MEDIA_TYPES),
      trial.chance.next() < 0.5 ? { schema: schema() } : { example: trial.oneOf([...HARMLESS, ...HARMFUL]) },
    ])
  const responses = () =>
    entries(trial.integer(1, 4), () => [
      pick(STATUSES, HARMFUL_STATUSES),
      { description: trial.oneOf(['', '✓\n']), headers: headers(), content: content() },
    ])
  const paths = entries(trial.integer(1, 5), (i) => {
    const method = trial.oneOf(['get', 'post', 'put', 'delete', 'head', 'options', 'patch'])
    const operation = {
      operationId: trial.oneOf([`op${i}`, `op-${i}✓`, `x'";${i}`]),
      parameters: [{ in: 'query', name: 'a', schema: schema() }],
      ...(method === 'get' ? {} : { requestBody: { content: { 'application/json': { schema: schema() } } } }),
      responses: responses(),
    }
    return [trial.oneOf([`/p${i}`, `/p${i}/{id}`]), { [method]: operation }]
  })
  const Self = { type: 'object', properties: { a: { $ref: '#/components/schemas/Self' } } }
  const Many = { allOf: Array.from({ length: 3 }, () => ({ $ref: '#/components/schemas/Self' })) }
  const info = { title: '✓', version: '1' }
  return JSON.stringify({
    openapi: trial.oneOf(['3.0.3', '3.1.0']),
    info,
    paths,
    components: { schemas: { Self, Many } },
  })
}

/** Own names, `__proto__` too. */
function entries(count: number, make: (i: number) => readonly [string, unknown]): object {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => make(i)))
}
