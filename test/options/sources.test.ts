import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { camelName, envName, flagName, kebabName, NAMED_OPTIONS } from '../../src/options/names.js'
import type { ResolvedOptions } from '../../src/options/resolve.js'
import { envLayer } from '../../src/options/sources.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../../src/options/table.js'
import { folderWith, gathered, problemsOf, resolved } from './context.js'

/** Reads `name=value` pairs. */
function pairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]))
}

/** A value of each option that is not its default, as text. */
const SAMPLES = pairs(`
  port=4321 host=localhost basePath=/api/v2 cors=http://localhost:3000 store=mine.json inMemory=true
  fixtures=seeds reset=true fsync=true redis=redis://127.0.0.1:6379 group=checkout
  order=oldest plan=pro limits=5/min rateLimit=false apiKey=mine:pro anyKey=true spaceFrom=baggage retryAfter=none
  limitBody=html rateLimitHeaders=draft banAfter=3 banDuration=1m banStatus=403 reason=false storm=0.3 fault=listPets:503 latency=5ms
  senders=3 mock=listPets generate=toys=5 sunset=after sunsetStatus=410 scenario=banned now=2026-03-01T10:00:00Z freeze=true
  seed=42 spec=mine.yaml handlers=own.js strict=true upstream=https://staging.example/v1 upstreamApiKeyFile=key.txt
  upstreamWrites=forward upstreamTimeout=3s maxStore=1GiB maxSpaces=3 logLimit=4
  log=json controlToken=secret controlOrigin=http://localhost:6006
`)

/** What an option needs beside it. */
function beside(name: OptionName): { readonly redis?: string } {
  return name === 'group' ? { redis: 'redis://127.0.0.1:6379' } : {}
}

/** Stands for the working directory of each source. */
const CWD = '/nowhere'

/** A sample as a YAML file or a program writes it. */
function natural(name: OptionName): unknown {
  const text = SAMPLES[name]
  const { reads } = optionRow(name)
  return reads === 'number' ? Number(text) : reads === 'switch' ? text === 'true' : text
}

function flagsOf(name: OptionName) {
  const { reads } = optionRow(name)
  const value = reads === 'list' ? [SAMPLES[name]] : reads === 'switch' ? SAMPLES[name] === 'true' : SAMPLES[name]
  return { ...beside(name), [name]: value }
}

it('has a sample of every option', () => expect(Object.keys(SAMPLES).sort()).toEqual([...OPTION_NAMES].sort()))

it.each(OPTION_NAMES)(
  '--%s changes something as a flag, in the environment and in both spellings in the file',
  (name) => {
    const plain = (options: ResolvedOptions, cwd = CWD) => JSON.parse(JSON.stringify(options).replaceAll(cwd, CWD))
    const expected = plain(resolved({ ...beside(name), [name]: natural(name) }, CWD))
    const given = (config: string, sources: Parameters<typeof gathered>[0] = { flags: beside(name) }) => {
      const cwd = folderWith({ 'petstore-sandbox.yaml': config })
      return plain(gathered({ ...sources, cwd }), cwd)
    }
    expect(expected).not.toEqual(plain(resolved(beside(name), CWD)))
    expect(given('', { flags: flagsOf(name) })).toEqual(expected)
    const { negative, notInFiles } = optionRow(name)
    const variable = envName({ name, negated: negative === true })
    expect(variable).toBe(`PETSTORE_SANDBOX_${flagName(name).slice(2).replaceAll('-', '_').toUpperCase()}`)
    const text = negative ? String(SAMPLES[name] !== 'true') : SAMPLES[name]
    expect(given('', { flags: beside(name), env: { [variable]: text } })).toEqual(expected)
    for (const option of NAMED_OPTIONS.filter((one) => one.name === name && !notInFiles)) {
      const value = JSON.stringify(option.negated ? natural(name) !== true : natural(name))
      for (const key of [kebabName(option), camelName(option)])
        expect(given(`${key}: ${value}\n`), key).toEqual(expected)
    }
  },
)

describe('a config file, which may come with a cloned folder', () => {
  const notInFiles = OPTION_NAMES.filter((name) => optionRow(name).notInFiles)

  it('cannot name secrets or other machines, or widen access', () =>
    expect(notInFiles.join()).toBe(
      'host,redis,upstream,upstreamApiKeyFile,upstreamWrites,handlers,controlToken,controlOrigin',
    ))

  it.each(notInFiles)('cannot set %s, nor can a scenario', (name) => {
    const [key, value] = [kebabName({ name, negated: false }), JSON.stringify(natural(name))]
    const instead = `use ${flagName(name)} or ${envName({ name, negated: false })}`
    const inConfig = (text: string) => problemsOf(() => gathered({ flags: { inMemory: true }, config: text }))
    expect(inConfig(`\n${key}: ${value}\n`)).toEqual([
      `petstore-sandbox.yaml:2:1: ${key}: cannot be set in a file, which may come from someone else; ${instead}`,
    ])
    expect(inConfig(`${camelName({ name, negated: false })}: ${value}\n`)).toHaveLength(1)
    expect(inConfig(`scenario: { ${key}: ${value} }\n`)).toEqual([
      `petstore-sandbox.yaml:1:1: scenario: ${key}: cannot be set by a scenario; ${instead}`,
    ])
    const cwd = folderWith({ 'mine.yaml': `${key}: ${value}\n` })
    expect(problemsOf(() => gathered({ flags: { scenario: 'mine.yaml' }, cwd }))).toEqual([
      `mine.yaml:1:1: ${key}: cannot be set by a scenario; ${instead}`,
    ])
  })

  it('can only narrow which web origins may call: the default is all of them', () => {
    expect(resolved().cors).toBe('*')
    expect(gathered({ config: 'cors: http://localhost:3000' }).cors).toEqual(['http://localhost:3000'])
  })

  it('cannot open a real service to websites, where the default is loopback', () => {
    const flags = { upstream: 'https://mine.example/v1' }
    expect(gathered({ flags }).cors).toBe('loopback')
    for (const cors of ['off', 'loopback', 'http://localhost:3000'])
      expect(problemsOf(() => gathered({ flags, config: `cors: ${cors}` }))).toEqual([])
    for (const cors of ['*', 'https://evil.example'])
      expect(problemsOf(() => gathered({ flags, config: `cors: "${cors}"` }))).toEqual([
        `petstore-sandbox.yaml:1:1: cors "${cors}": would open the real service to websites; use --cors or PETSTORE_SANDBOX_CORS`,
      ])
    expect(gathered({ flags: { ...flags, cors: '*' }, config: 'cors: "*"' }).cors).toBe('*')
    expect(gathered({ flags, env: { PETSTORE_SANDBOX_CORS: '*' } }).cors).toBe('*')
  })

  it('is refused even if a flag wins over it', () =>
    expect(
      problemsOf(() =>
        gathered({ flags: { upstream: 'https://mine.example' }, config: 'upstream: https://a.example' }),
      ),
    ).toHaveLength(1))

  it.each(['/etc/profile.d/x.sh', '../.zshenv', 'a/../../b.json', './..'])('cannot keep the store in %s', (store) =>
    expect(problemsOf(() => gathered({ config: `store: ${store}` }))).toEqual([
      `petstore-sandbox.yaml:1:1: store "${store}": is outside this folder; use --store or PETSTORE_SANDBOX_STORE`,
    ]),
  )

  it('cannot keep the store behind a link that leads out of its folder', () => {
    const cwd = folderWith({ 'clone/petstore-sandbox.yaml': 'store: up/.zshenv' })
    symlinkSync('..', join(cwd, 'clone/up'))
    expect(problemsOf(() => gathered({ cwd: join(cwd, 'clone') }))).toEqual([
      'petstore-sandbox.yaml:1:1: store "up/.zshenv": is outside this folder; use --store or PETSTORE_SANDBOX_STORE',
    ])
  })

  it.each(['fixtures', 'spec', 'scenario'])('cannot name a path outside its folder as %s', (name) => {
    const outside = name === 'fixtures' ? '../others' : '../other.yaml'
    expect(problemsOf(() => gathered({ config: `${name}: ${outside}` }))).toEqual([
      `petstore-sandbox.yaml:1:1: ${name} "${outside}": is outside this folder; use --${name} or PETSTORE_SANDBOX_${name.toUpperCase()}`,
    ])
  })

  it('cannot name fixtures of which one is a link that leads out of its folder', () => {
    const cwd = folderWith({
      'clone/petstore-sandbox.yaml': 'fixtures: data',
      'clone/data/keys.json': '[]',
      'secrets.json': '[{"name":"secret"}]',
    })
    symlinkSync('../../secrets.json', join(cwd, 'clone/data/pets.json'))
    expect(problemsOf(() => gathered({ cwd: join(cwd, 'clone') }))).toEqual([
      expect.stringContaining('fixtures "data": is outside this folder'),
    ])
  })

  it('cannot name fixtures of which one, below a folder, is such a link', () => {
    const cwd = folderWith({
      'clone/petstore-sandbox.yaml': 'fixtures: data',
      'clone/data/home/keys.json': '[]',
      'secrets.json': '{}',
    })
    symlinkSync('../../../secrets.json', join(cwd, 'clone/data/home/config.json'))
    expect(problemsOf(() => gathered({ cwd: join(cwd, 'clone') }))).toEqual([
      expect.stringContaining('fixtures "data": is outside this folder'),
    ])
  })

  it('names operations in latency as the contract does', () =>
    expect(gathered({ config: 'latency: { get-users: 3s, getUsers: 2s }' }).start.settings.latency).toMatchObject({
      operations: { 'get-users': { max: 3000 }, getUsers: { max: 2000 } },
    }))

  it('can keep the store anywhere in its own folder', () => {
    const cwd = folderWith({ 'petstore-sandbox.yaml': 'store: data/../state/store.json' })
    expect(gathered({ cwd }).store).toBe(`${cwd}/state/store.json`)
  })

  it.each([
    ['fixtures', '//evil.example/share'],
    ['scenario', '\\\\evil.example\\share\\scenario.yaml'],
  ])('cannot make Windows log in to another machine by %s', (key, path) =>
    expect(problemsOf(() => gathered({ config: `${key}: ${JSON.stringify(path)}` }))).toEqual([
      `petstore-sandbox.yaml:1:1: ${key} ${JSON.stringify(path)}: is on another machine; use --${key} or PETSTORE_SANDBOX_${key.toUpperCase()}`,
    ]),
  )

  it('does not suggest options that it cannot set', () =>
    expect(problemsOf(() => gathered({ config: 'upstreem: https://a.example' }))).toEqual([
      'petstore-sandbox.yaml:1:1: upstreem: unknown option',
    ]))
})

describe('precedence', () => {
  it('lets a plan on the command line override limits in the file, but not its own', () => {
    const plan = { flags: { plan: 'pro' }, config: 'limits: 5/min' }
    expect(gathered(plan).start.settings.limits).toBeUndefined()
    expect(gathered({ config: 'plan: pro\nlimits: 5/min' }).start.settings.limits).toBeDefined()
  })

  const scenario = 'plan: business\nban-after: 2\nban-duration: 2m\nban-status: 401\n'

  it.each([
    ['flag', { banAfter: 2, banDuration: 120_000 }],
    ['environment', { banAfter: 4, banDuration: 120_000 }],
    ['config file', { banAfter: 4, banDuration: 180_000 }],
  ])(
    'is flag, environment, config file, default, with a scenario right after the %s that chooses it',
    (source, bans) => {
      const config = 'plan: enterprise\nban-after: 3\nban-duration: 3m\n'
      const cwd = folderWith({
        'petstore-sandbox.yaml': source === 'config file' ? `scenario: ./mine.yaml\n${config}` : config,
        'mine.yaml': scenario,
      })
      const flags = { plan: 'free', ...(source === 'flag' ? { scenario: './mine.yaml' } : {}) }
      const env = {
        PETSTORE_SANDBOX_PLAN: 'pro',
        PETSTORE_SANDBOX_BAN_AFTER: '4',
        ...(source === 'environment' ? { PETSTORE_SANDBOX_SCENARIO: './mine.yaml' } : {}),
      }
      const expected = { plan: 'free', banStatus: 401, sunsetStatus: 404, ...bans }
      expect(gathered({ flags, env, cwd }).start.settings).toMatchObject(expected)
    },
  )

  it('reads only the scenario of the first source', () => {
    const cwd = folderWith({ 'petstore-sandbox.yaml': 'scenario: banned', 'mine.yaml': scenario })
    expect(gathered({ flags: { scenario: './mine.yaml' }, cwd }).start.bans).toEqual({})
  })

  it('lets a flag win over what it excludes in the environment and in the file', () => {
    const inMemory = { flags: { inMemory: true }, env: { PETSTORE_SANDBOX_STORE: 'a.json' } }
    expect(gathered(inMemory).store).toBeUndefined()
    const env = { PETSTORE_SANDBOX_REDIS: 'redis://127.0.0.1:6379' }
    expect(gathered({ flags: { inMemory: true }, env }).groupLog).toBeUndefined()
    const cwd = folderWith({ 'petstore-sandbox.yaml': 'in-memory: true' })
    expect(gathered({ flags: { store: 'a.json' }, cwd }).store).toBe(`${cwd}/a.json`)
  })

  it('lets "off" take a storm and a latency of a scenario away', () => {
    const cwd = folderWith({ 'mine.yaml': 'storm: 0.5\nlatency: 5ms\n' })
    const { start } = gathered({ flags: { scenario: 'mine.yaml', storm: 'off', latency: 'off' }, cwd })
    expect(start.storm).toBeUndefined()
    expect(start.settings.latency).toBeUndefined()
  })
})

describe('the environment', () => {
  it('reads switches in any case, and treats an empty variable as not set', () => {
    const isFrozen = (text: string, config: string) =>
      gathered({ env: { PETSTORE_SANDBOX_FREEZE: text }, config }).start.freeze
    expect(['1', 'true', 'YES', 'on'].map((text) => isFrozen(text, ''))).toEqual([true, true, true, true])
    const off = ['0', 'false', 'No', 'OFF', '']
    expect(off.map((text) => isFrozen(text, 'freeze: true'))).toEqual([false, false, false, false, true])
  })

  it('refuses both spellings of a switch at once', () =>
    expect(
      problemsOf(() => gathered({ env: { PETSTORE_SANDBOX_REASON: '1', PETSTORE_SANDBOX_NO_REASON: '1' } })),
    ).toEqual(['PETSTORE_SANDBOX_NO_REASON: is given twice']))

  it('warns of an unknown variable, but not of variables of other commands', () => {
    const others = ['URL', 'DEBUG', 'FAIL_ON', 'REPORT', 'HAR', 'OPEN', 'WATCH'].map(
      (name) => `PETSTORE_SANDBOX_${name}`,
    )
    expect(
      envLayer(
        {
          ...Object.fromEntries(others.map((name) => [name, 'x'])),
          PETSTORE_SANDBOX_PLAM: 'pro',
          PETSTORE_API_KEY: 'x',
          PETSTORE_SANDBOX_: '',
        },
        '',
      ).warnings,
    ).toEqual([
      'PETSTORE_SANDBOX_PLAM: unknown option, ignored; did you mean PETSTORE_SANDBOX_PLAN?',
      'PETSTORE_SANDBOX_: unknown option, ignored',
    ])
  })

  it('ignores what Kubernetes sets for a Service of this name', () => {
    const env = {
      PETSTORE_SANDBOX_SERVICE_HOST: '10.96.12.7',
      PETSTORE_SANDBOX_SERVICE_PORT_HTTP: '4010',
      PETSTORE_SANDBOX_PORT: 'tcp://10.96.12.7:4010',
      PETSTORE_SANDBOX_PORT_4010_TCP: 'tcp://10.96.12.7:4010',
    }
    expect(envLayer(env, '')).toMatchObject({ given: new Map(), problems: [], warnings: [] })
    expect(envLayer({ PETSTORE_SANDBOX_PORT: '4011' }, '').given.get('port')).toMatchObject({ value: 4011 })
  })
})

it('an instant that cannot be read is one problem, which names all forms', () => {
  expect(problemsOf(() => gathered({ flags: { now: 'tomorrow' } }))).toEqual([
    expect.stringMatching(
      /^--now "tomorrow": must be an instant .* or an offset: from real time such as \+3h or -2d, from the first removal such as sunset-1m$/,
    ),
  ])
})
