import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, statusOf } from '../client.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment, Trial } from '../trial.js'

const BODY_BYTES = 1_000_000
const DEEPEST = 95
/** More than SECURITY.md allows, because processor time grows on a busy machine. */
const LONGEST_STALL_MS = 1000
const MOST_MIB = 600

/** Random recursive and wide schemas, each with bodies of at most 1 MiB that are deep, wide, or both. No body stalls the sandbox. */
export const hostileBodies: Experiment = {
  counts: 'requests with hostile bodies',
  // Judged by processor time, with a limit for each request: a slow machine that is busy only takes longer.
  timeoutMs: 900_000,
  async run(trial) {
    let worst = { ms: 0, what: 'none' }
    let most = 0
    for (let round = 0; round < trial.size(25, 3); round++) {
      const folder = trial.folder()
      const schemas = Array.from({ length: 20 }, () => randomSchema(trial))
      writeFileSync(join(folder, 'api.json'), JSON.stringify(contractOf(schemas)))
      const server = await trial.serve(folder, ['--in-memory', '--spec', 'api.json', ...UNLIMITED])
      for (const [index, schema] of schemas.entries())
        for (const body of bodiesFor(trial)) {
          const before = processorMs(server.child.pid)
          const status = statusOf(await ask(server.port, 'POST', `/v1/things${index}`, { body, timeoutMs: 60_000 }))
          const ms = processorMs(server.child.pid) - before
          most = Math.max(most, server.memory())
          const what = () => `${JSON.stringify(schema).slice(0, 600)} with ${body.slice(0, 60)}… (${body.length} bytes)`
          if (ms > worst.ms) worst = { ms, what: what() }
          trial.check(
            ms <= LONGEST_STALL_MS && (status === 201 || status === 400),
            () => `${ms} ms, ${status}: ${what()}`,
          )
        }
      await server.stop()
    }
    trial.check(most <= MOST_MIB, () => `it held ${most} MiB`)
    trial.note(`the longest stall ${worst.ms} ms of processor time, at most ${most} MiB`)
    process.stderr.write(`The longest stall, ${worst.ms} ms: ${worst.what}\n`)
  },
}

/** User and system time, which Linux counts in steps of 10 ms. */
function processorMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function contractOf(schemas: readonly object[]): object {
  const paths = schemas.map((_, index) => {
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/Thing${index}` } } }
    const responses = { 201: { description: 'Made', content } }
    return [
      `/things${index}`,
      { post: { operationId: `make${index}`, requestBody: { required: true, content }, responses } },
    ]
  })
  const things = schemas.map((schema, index) => {
    const text = JSON.stringify({ type: 'object', properties: { v: { $ref: '#/components/schemas/N0' } } })
    const own = JSON.parse(text.replaceAll('schemas/N', `schemas/T${index}N`))
    const parts = Object.entries(JSON.parse(JSON.stringify(schema).replaceAll('schemas/N', `schemas/T${index}N`)))
    return [[`Thing${index}`, own], ...parts.map(([name, part]) => [`T${index}${name}`, part])]
  })
  return {
    openapi: '3.1.0',
    info: { title: 'Hostile bodies', version: '1' },
    servers: [{ url: '/v1' }],
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(things.flat()) },
  }
}

const NAMES = ['a', 'b', 'kids'] as const
const PATTERNS = ['^(a+b?)+$', '^[a-z]{1,100}$', '^((a{1,50}){1,10}b?)*$', '(a|b)*c{1,200}d', '^\\w+( \\w+)*$']

/** Three schemas that refer to each other. */
function randomSchema(trial: Trial): Readonly<Record<string, unknown>> {
  const many = (make: () => unknown, most = 3) => Array.from({ length: trial.integer(1, most + 1) }, make)
  const reference = () => ({ $ref: `#/components/schemas/N${trial.integer(0, 3)}` })
  const schema = (depth: number): unknown => {
    if (depth > 2 || (depth > 0 && trial.integer(0, 3) === 0)) return trial.integer(0, 3) === 0 ? leaf() : reference()
    const inner = () => schema(depth + 1)
    const kids = { type: 'array', items: inner() }
    return trial.oneOf<() => object>([
      () => ({ type: 'object', required: [trial.oneOf(NAMES)], properties: { kids, a: inner() } }),
      () => ({ type: 'object', properties: { kids }, additionalProperties: inner() }),
      () => ({ type: 'object', properties: { kids }, unevaluatedProperties: trial.oneOf([false, inner()]) }),
      () => ({ type: 'object', properties: { kids }, patternProperties: { [trial.oneOf(PATTERNS)]: inner() } }),
      () => ({ type: 'object', properties: { kids }, dependentSchemas: { kids: inner(), a: inner() } }),
      () => ({ anyOf: many(inner, trial.oneOf([3, 50])) }),
      () => ({ oneOf: many(inner, trial.oneOf([3, 50])) }),
      () => ({ allOf: many(inner) }),
      () => ({ if: inner(), [trial.oneOf(['then', 'else'])]: inner() }),
      () => ({ not: inner() }),
      () => kids,
      () => ({ type: 'array', contains: inner(), uniqueItems: true }),
      () => ({ type: 'array', prefixItems: many(inner), unevaluatedItems: inner() }),
    ])()
  }
  const leaf = () =>
    trial.oneOf<() => object>([
      () => ({ type: 'string', pattern: trial.oneOf(PATTERNS) }),
      () => ({ type: 'string', minLength: 2, maxLength: 100_000 }),
      () => ({ type: 'number', multipleOf: 0.01 }),
      () => ({ type: 'integer' }),
      () => ({ enum: Array.from({ length: 500 }, (_, a) => ({ a })) }),
      () => ({ enum: Array.from({ length: 500 }, (_, a) => `choice ${a}`) }),
      () => ({ type: 'object', required: Array.from({ length: 30 }, (_, at) => `field${at}`) }),
      () => ({ type: 'array', uniqueItems: true }),
    ])()
  return { N0: schema(0), N1: schema(0), N2: schema(0) }
}

/** Deep, wide, and both, as texts. */
function bodiesFor(trial: Trial): readonly string[] {
  const atom = () =>
    trial.oneOf(['{}', '[]', '1', '1e300', '0.1', '""', '"aaaaaaaaaa"', 'null', '{"a":1}', '{"kids":[]}'])
  const nest = (inner: string, levels: number) => {
    const [open, close] = trial.oneOf([
      ['{"kids":[', ']}'],
      ['{"a":', '}'],
      ['{"a":1,"kids":[', ']}'],
      ['[', ']'],
    ] as const)
    const deep = Math.min(levels, Math.floor((2 * DEEPEST) / open.replace(/[^[{]/g, '').length))
    return open.repeat(deep) + inner + close.repeat(deep)
  }
  const wide = (bytes: number) => {
    const item = trial.oneOf([atom(), nest(atom(), 3)])
    return `[${Array.from({ length: Math.floor(bytes / (item.length + 1)) }, () => item).join()}]`
  }
  const names = Array.from({ length: 60_000 }, (_, at) => `"n${at}":${atom()}`).join()
  const values = [
    nest(atom(), DEEPEST),
    wide(BODY_BYTES),
    `{"kids":${wide(BODY_BYTES)}}`,
    `{${names}}`,
    `[${Array.from({ length: 100 }, () => nest(wide(5000), 20)).join()}]`,
    JSON.stringify(trial.oneOf(['a', 'ab', 'a ']).repeat(BODY_BYTES / 2)),
  ]
  return values.map((value) => `{"v":${value}}`)
}
