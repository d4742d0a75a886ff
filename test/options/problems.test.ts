import { describe, expect, it } from 'vitest'
import { kebabName } from '../../src/options/names.js'
import { locateOption } from '../../src/options/resolve.js'
import { OPTION_NAMES, optionRow } from '../../src/options/table.js'
import { openSandboxCore } from '../../src/start/compose.js'
import { folderWith, gathered, problemsOf, resolved } from './context.js'

/** What a config file of this text is refused with. */
function configProblems(config: string): readonly string[] {
  return problemsOf(() => gathered({ config }))
}

describe('a value that cannot be used', () => {
  it('is reported with its source, its value and the allowed values, all problems at once', () => {
    const sources = {
      flags: { plan: 'gold', port: 'http', fault: ['listPets:200', 'x'] },
      env: { PETSTORE_SANDBOX_BAN_AFTER: '0', PETSTORE_SANDBOX_FREEZE: 'maybe', PETSTORE_SANDBOX_API_KEY: 'a b' },
      config: 'ban-duration: 5 minutes\nlimits: 60/hour\n',
    }
    expect(problemsOf(() => gathered(sources))).toMatchInlineSnapshot(`
      [
        "--plan "gold": must be free, pro, business or enterprise",
        "--port "http": must be a whole number from 0 to 65535",
        "--fault "listPets:200": a status below 400 needs a body or headers, as in getPet:200:{"id":1}",
        "--fault "x": write it as <operation|*>:<status|connection-reset|empty-response|truncated-body|malformed-chunk|slow-body|hang|unknown-fields|enum-growth>[@20%][*3][,retry-after=2s][,after][:<JSON body>], for example listPets:503@20%*3",
        "PETSTORE_SANDBOX_API_KEY: must consist of letters, digits and . _ - + /, with = only at the end, at most 4096 characters ("~" marks spaces)",
        "PETSTORE_SANDBOX_BAN_AFTER "0": must be a whole number of 1 or more, or never",
        "PETSTORE_SANDBOX_FREEZE "maybe": must be true or false",
        "petstore-sandbox.yaml:1:1: ban-duration "5 minutes": must be a whole number with a unit, for example 500ms, 30s, 5m or 24h",
        "petstore-sandbox.yaml:2:1: limits "60/hour": must be requests per minute, per day or both, for example 5000/min,200000/day",
      ]
    `)
  })

  it('is reported even if another source overrides it', () =>
    expect(problemsOf(() => gathered({ flags: { plan: 'pro' }, config: 'plan: gold' }))).toEqual([
      'petstore-sandbox.yaml:1:1: plan "gold": must be free, pro, business or enterprise',
    ]))

  it('is refused from a program, too', () =>
    expect(
      problemsOf(() =>
        resolved({
          port: 70_000,
          seed: 1.5,
          banStatus: 500,
          prot: 1,
          'ban-after': 3,
          storm: { rate: 2, until: '5m' },
          fault: [{ operation: 'listPets', fault: 'status' }, 'listPets:503'],
          limits: {},
          now: new Date(Number.NaN),
          cors: 'localhost',
        }),
      ),
    ).toMatchInlineSnapshot(`
      [
        "prot: unknown option; did you mean port?",
        "ban-after: unknown option; did you mean banAfter?",
        "port "70000": must be a whole number from 0 to 65535",
        "seed "1.5": must be a whole number of 0 or more",
        "banStatus "500": must be 429, 403 or 401",
        "storm.rate "2": must be from 0 to 1",
        "storm.until: is unknown; the value must be <rate>[,for=30s][,every=5m][,retry-after=2s] with a rate from 0 to 1, for example 0.3,for=30s",
        "fault[0] "{"operation":"listPets","fault":"status"}": the fault must be a status from 400 to 599 or one of connection-reset, empty-response, truncated-body, malformed-chunk, slow-body, hang, unknown-fields, enum-growth",
        "limits "{}": must be requests per minute, per day or both, for example 5000/min,200000/day",
        "now "null": must be an instant such as 2026-03-01T10:00:00Z or 2026-03-01T10:00:00+02:00, or a date (midnight UTC), or an offset: from real time such as +3h or -2d, from the first removal such as sunset-1m",
        "cors "localhost": must be *, loopback, off, or origins separated by commas, for example http://localhost:3000",
      ]
    `))

  it('is not shown where it is a secret', () => {
    const problems = problemsOf(() =>
      resolved({ controlToken: 'hush hush', apiKey: ['quiet quiet', 'silent:plea se'] }),
    )
    expect(problems).toHaveLength(3)
    expect(problems.join()).not.toMatch(/hush|quiet|silent|please/)
  })

  it('is shown on one line, and not at full length', () => {
    const [problem = ''] = problemsOf(() => resolved({ plan: `a\nb\u001b${'c'.repeat(1000)}` }))
    expect(problem).toMatch(/^plan "a\\nb\\u001bc+…": must be a plan of the contract$/)
    expect(problem.length).toBeLessThan(250)
  })

  const inFiles = OPTION_NAMES.filter((name) => !optionRow(name).notInFiles)
  it.each(inFiles)('of %s names its place in the config file', (name) => {
    const key = kebabName({ name, negated: false })
    const [problem = ''] = configProblems(`# a comment\n\n${key}: [[]]\n`)
    expect(problem).toMatch(/^petstore-sandbox\.yaml:3:\d+: /)
    expect(problem).toContain(`: ${key}`)
    expect(problem.includes('"[')).toBe(optionRow(name).secret !== true)
  })
})

it('a host beyond loopback needs a control token, which another source may give', () => {
  expect(problemsOf(() => gathered({ flags: { host: '0.0.0.0' } }))).toEqual([
    '--host "0.0.0.0": can be reached from other machines; set a control token too (--control-token)',
  ])
  const env = { PETSTORE_SANDBOX_CONTROL_TOKEN: 't' }
  expect(gathered({ flags: { host: '0.0.0.0' }, env }).host).toBe('0.0.0.0')
})

it('a store that is in memory too is refused if one source sets both', () =>
  expect(problemsOf(() => gathered({ flags: { store: 'a.json', inMemory: true } }))).toEqual([
    '--store "a.json": cannot be combined with in-memory; drop one of the two',
  ]))

describe('the config file', () => {
  it('may be missing, empty or only comments', () => {
    expect(configProblems('')).toEqual([])
    expect(configProblems('# nothing yet\n')).toEqual([])
    expect(problemsOf(() => gathered({ cwd: folderWith() }))).toEqual([])
  })

  it('takes maps in kebab-case and camelCase', () => {
    const switches = 'storm: { rate: 1, retry-after: 5s }\nlimits: { per-minute: 5, perDay: 6 }\n'
    const { start } = gathered({ config: `${switches}fault: [{ operation: "*", fault: hang }, "getPet:500"]` })
    const faults = [
      { operation: '*', fault: 'hang' },
      { operation: 'getPet', status: 500 },
    ]
    expect(start).toMatchObject({ storm: { rate: 1, retryAfter: 5000 }, faults })
    expect(start.settings.limits).toEqual({ perMinute: 5, perDay: 6 })
  })

  it.each([
    ['an unknown key', 'port: 1\nban-afetr: 5\n'],
    ['an unknown key in a map', 'storm:\n  rate: 0.3\n  retry: 5s\n'],
    ['a wrong value deep down', 'fault:\n  - listPets:503\n  - operation: "*"\n    fault: status\n    status: 200\n'],
    ['a wrong type', 'port: "4000"\nfreeze: yes\n'],
    ['a missing value', 'plan:\n'],
    ['both spellings', 'ban-after: 5\nbanAfter: 6\n'],
    ['a key twice', 'plan: pro\nplan: free\n'],
    ['a switch and its opposite', 'rate-limit: true\nno-rate-limit: true\n'],
    ['a list', '- port: 4000\n'],
    ['broken YAML', 'plan: pro\n  port: [1\n'],
    ['an unknown tag', 'plan: !plan pro\n'],
    ['two documents', 'plan: pro\n---\nplan: free\n'],
    ['too many aliases', `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: &c [${'*b,'.repeat(50)}]\n`],
  ])('with %s is refused with the place', (_what, config) => expect(configProblems(config)).toMatchSnapshot())

  it('that cannot be read is reported', () => {
    const cwd = folderWith({ 'petstore-sandbox.yaml/inside': '' })
    expect(problemsOf(() => gathered({ cwd }))).toEqual([
      'petstore-sandbox.yaml: cannot be read (it is a folder, not a file)',
    ])
  })
})

describe('what only the contract can check', () => {
  const rules = 'plan: pro\nfault:\n  - listPets:503\n  - listPest:503\n'
  const scenario = '# ours\nfault: listPest:503\n'
  it('is named by its place, whatever its source', () => {
    const mine = { flags: { scenario: './mine.yaml' }, cwd: folderWith({ 'mine.yaml': scenario }) }
    expect(locateOption(gathered({ config: rules }), 'fault', 1)).toBe('petstore-sandbox.yaml:4:5: fault[1]')
    expect(locateOption(gathered(mine), 'fault', 0)).toBe('./mine.yaml:2:1: fault')
    expect(locateOption(gathered({ flags: { fault: ['listPest:503'] } }), 'fault', 0)).toBe('--fault')
    const env = { PETSTORE_SANDBOX_FAULT: '*:503' }
    expect(locateOption(gathered({ env }), 'fault', 0)).toBe('PETSTORE_SANDBOX_FAULT')
    expect(locateOption(resolved({ fault: ['*:503', '*:500'] }), 'fault', 1)).toBe('fault[1]')
  })

  it('is reported with that place', async () => {
    const options = gathered({ config: rules })
    const message = expect.stringMatching(
      /^petstore-sandbox\.yaml:4:5: fault\[1\]: The contract has no operation "listPest"; did you mean listPets\?$/,
    )
    await expect(openSandboxCore(options, {})).rejects.toMatchObject({ code: 'UNKNOWN_OPERATION', message })
  })
})

it.each(['spec', 'fixtures', 'store', 'scenario'])('refuses an address as %s, and says what to do', (name) => {
  expect(problemsOf(() => gathered({ flags: { [name]: 'https://example.com/openapi.yaml' } }))).toEqual([
    expect.stringMatching(/"https:\/\/example\.com\/openapi\.yaml": .*an address; download it and name the file$/),
  ])
})
