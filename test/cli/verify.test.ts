import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { change, driftingService } from '../client/drifting-service.js'
import { junitViolations } from '../support/junit-schema.js'
import { inPath, integer, list, object, ok, readOnly, takes, text } from '../support/small-contract.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { run, sandboxWith, type TestIo, testIo } from './test-io.js'

/** @param line flags, split at blanks */
function verify(line: string, env: TestIo['env'] = {}, given: { readonly tty?: boolean } = {}) {
  const io = testIo({ env: { XDG_CONFIG_HOME: temporaryFolder(), ...env }, ...given })
  return run(`verify${line === '' ? '' : ` ${line}`}`, io)
}

/** Operations that are called only with --writes, and the others. */
const WRITING = packagedContract().operations.filter(({ method }) => method !== 'GET')
const READING = packagedContract().operations.filter(({ method }) => method === 'GET')

const KEY = { PETSTORE_API_KEY: 'sandbox' }
const BANNED = { PETSTORE_API_KEY: 'sandbox-banned' }
const noOrders = change(
  ({ url, key }) => url === '/v1/store/orders' && key === 'sandbox',
  (goes) => Object.assign(goes, { body: '{"code":"<&>","message":"gone","status":500}', status: 500 }),
)

describe('verify', () => {
  it('reports no drift at a sandbox, with --writes', async () => {
    const { baseUrl } = await sandboxWith()
    const { code, out, err } = await verify(`--base-url ${baseUrl} --writes`, KEY)
    expect(code).toBe(0)
    expect(err).toMatch(/\nnote: createPet has written, with the id \d+; it is still there\.\n$/)
    expect(out).toMatch(/^✓ listPets, /)
    expect(out).not.toMatch(/^[✗–]/m)
    expect(out).toMatch(/\n\nAnimal Store Service 1\.0\.0: \d+ kept, 0 drifted, 0 not checked\n$/)
  })

  it('checks the contract of the sandbox, with ids of listed records in every path', async () => {
    const spec = join(packageDirectory, 'test/contract/specs/projects.yaml')
    const { baseUrl } = await sandboxWith({ spec, generate: ['projects=1', 'tasks=1'] })
    const { code, out } = await verify(`--base-url ${baseUrl}`, KEY)
    expect(out).toMatch(/^✓ getProject, GET \/projects\/1$/m)
    expect(out).toMatch(/^✓ listTasks, GET \/projects\/1\/tasks$/m)
    expect(out).toMatch(/^✓ getTask, GET \/projects\/1\/tasks\/[\da-f-]{36}$/m)
    expect(code).toBe(0)
    const [, count] = /, (\d+) not checked/.exec(out) ?? []
    const failed = await verify(`--base-url ${baseUrl} --fail-on not-checked`, KEY)
    expect([failed.code, failed.err]).toEqual([
      1,
      expect.stringContaining(`NOT_CHECKED: ${count} checks could not be made`),
    ])
  })

  it('reports no drift for a number beside the id, properties only to write, and a key of the parent', async () => {
    const issue = object({
      id: readOnly(integer),
      number: readOnly(integer),
      title: text,
      code: { ...text, writeOnly: true },
    })
    const author = object({ id: readOnly(integer), username: text }, ['id', 'username'])
    const post = object({ id: readOnly(integer), authorId: integer, text }, ['id', 'authorId'])
    const document = {
      ...{ openapi: '3.1.0', info: { title: 'Sample', version: '1' }, servers: [{ url: '/v1' }] },
      paths: {
        '/issues': { get: ok(list(issue)), post: { ...takes(issue), ...ok(issue, 201) } },
        '/issues/{number}': { parameters: [inPath('number', integer)], get: ok(issue) },
        '/authors': { get: ok(list(author)), post: { ...takes(author), ...ok(author, 201) } },
        '/authors/{username}': { parameters: [inPath('username')], get: ok(author) },
        '/authors/{authorId}/posts': { parameters: [inPath('authorId', integer)], get: ok(list(post)) },
        '/posts': { get: ok(list(post)), post: { ...takes(post), ...ok(post, 201) } },
      },
    }
    const spec = temporaryFile('spec.json', JSON.stringify(document))
    const { baseUrl } = await sandboxWith({ spec, seed: 1, generate: ['authors=2', 'posts=3', 'issues=2'] })
    const { code, out } = await verify(`--base-url ${baseUrl} --writes`, KEY)
    expect(out).toMatch(/^✓ .*GET \/authors\/\d+\/posts$/m)
    expect(out).not.toMatch(/^✗/m)
    expect(code).toBe(0)
  })

  it('finds the sandbox that exec has started, and knows its key', async () => {
    const { controlUrl, baseUrl } = await sandboxWith()
    const { code, err } = await verify('', { PETSTORE_SANDBOX_URL: controlUrl })
    expect({ code, err }).toEqual({ code: 0, err: `Verifying sandbox at ${baseUrl} …\n` })
  })

  it('writes to production only with --yes where it cannot ask, as call does', async () => {
    const sandbox = await sandboxWith()
    const { baseUrl } = sandbox
    const warning = 'warning: --writes creates data in production and does not remove it.\n'
    const problem = `CONFIRMATION_NEEDED: verify --writes writes to production (${baseUrl}). Confirm with --yes.\n`
    const line = `-t production --base-url ${baseUrl} --writes`
    expect(await verify(line, KEY)).toEqual({ code: 2, out: '', err: warning + problem })
    expect(await sandbox.requests()).toEqual([])
    expect(await verify(`${line} --yes`, KEY)).toMatchObject({ code: 0, err: expect.stringContaining(warning) })
  })

  it('exits with 6 and names each drift', async () => {
    const { baseUrl } = await driftingService(noOrders)
    const { code, out } = await verify(`--base-url ${baseUrl}`, KEY)
    expect(code).toBe(6)
    expect(out).toMatch(
      /^✗ listOrders, GET \/store\/orders\n {2}the request: the status is 500, not 200: the status 500 is not documented/m,
    )
    expect(out.match(/^✗/gm)).toHaveLength(1)
    const lines = out.split('\n').length
    const verbose = await verify(`--base-url ${baseUrl} --verbose`, KEY)
    expect(verbose.out.split('\n').length).toBeGreaterThan(lines)
    expect(out).toContain(', 1 drifted, ')
  })

  it('exits with 7 if no server responds', async () => {
    const { code, out, err } = await verify('--base-url http://127.0.0.1:9/v1', KEY)
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(err).toContain(`NO_RESPONSE: No response from http://127.0.0.1:9: connection refused (ECONNREFUSED). `)
  })

  it.each([
    [2, {}, 'no API key was given\n', /\nUSAGE: No operation can be checked without an API key\. .*\n$/],
    [1, BANNED, 'for another 300 s\n', /\nNOT_CHECKED: No operation could be checked; the report has the reasons\.\n$/],
  ])('exits with %i if no operation could be checked with %j', async (code, env, reason, problem) => {
    const { baseUrl } = await sandboxWith()
    const { out, ...ended } = await verify(`--base-url ${baseUrl}`, env)
    expect(ended).toEqual({ code, err: expect.stringMatching(problem) })
    expect(out).toContain('✓ listPets, GET /pets?limit=2\n')
    expect(out).toMatch(new RegExp(`^– listPets, two-newest \\(GET /pets\\?limit=2\\): .*${reason}`, 'm'))
  })

  it.each([
    ['-o yaml', "option '-o, --output <form>' argument 'yaml' is invalid. Allowed choices are text, json, junit."],
    ['-t nope', 'UNKNOWN_TARGET: Unknown target "nope".'],
    ['--base-url nowhere', 'INVALID_TARGET: --base-url "nowhere": must be an http or https address'],
    ['now', "USAGE: too many arguments for 'verify'. Expected 0 arguments but got 1."],
    ['--base-url http://a.test --spec nope.yaml', 'SPEC_INVALID: '],
  ])('exits with 2 for %s', async (line, problem) =>
    expect(await verify(line, KEY)).toEqual({ code: 2, out: '', err: expect.stringContaining(problem) }),
  )

  it('colours its marks on a terminal', async () => {
    const { baseUrl } = await sandboxWith()
    const { out } = await verify(`--base-url ${baseUrl}`, KEY, { tty: true })
    expect(out).toContain('\u001b[32m✓\u001b[39m listPets')
  })
})

describe('the report of verify', () => {
  it('is one JSON document with -o json', async () => {
    const { baseUrl } = await driftingService(noOrders)
    const { code, out } = await verify(`--base-url ${baseUrl} -o json`, KEY)
    expect(code).toBe(6)
    const report = JSON.parse(out)
    const contract = { title: 'Animal Store Service', version: '1.0.0' }
    const summary = { drift: 1, skipped: WRITING.length, unanswered: 0 }
    expect(report).toMatchObject({ target: 'custom', baseUrl, contract, summary, notes: [] })
    expect(report.reached.toSorted()).toEqual(READING.map(({ id }) => id).toSorted())
    const details = ['it writes, and --writes was not given']
    const skipped = { operation: 'createPet', name: 'every check', outcome: 'skipped', details }
    expect(report.checks).toContainEqual(skipped)
    expect(report.summary.kept + 1 + WRITING.length).toBe(report.checks.length)
  })

  it('is JUnit XML with -o junit, whatever an instance sends', async () => {
    const evil = '<b>"&\'\u0007]]>'
    const drift = change(
      ({ url, key }) => url.startsWith('/v1/pets/') && key === 'sandbox',
      ({ headers }) => Object.assign(headers, { sunset: evil.replace('\u0007', '') }),
    )
    const { baseUrl } = await driftingService(drift)
    const { code, out } = await verify(`--base-url ${baseUrl} -o junit`, KEY)
    expect(code).toBe(6)
    const suites = [...out.matchAll(/<testsuite .* tests="(\d+)" failures="(\d+)" errors="0" time/g)]
    const sum = (group: number) => suites.reduce((total, groups) => total + Number(groups[group]), 0)
    expect([sum(2), out.match(/<skipped /g)?.length]).toEqual([3, WRITING.length])
    expect(out.match(/<testcase /g)).toHaveLength(sum(1))
    expect(out).toContain('&lt;b&gt;')
    expect(junitViolations(out)).toEqual([])
  })
})
