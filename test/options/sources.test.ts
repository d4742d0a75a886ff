import { describe, expect, it } from 'vitest'
import { envLayer } from '../../src/options/env-layer.js'
import { camelName, envName, flagName, kebabName, NAMED_OPTIONS } from '../../src/options/names.js'
import type { ResolvedOptions } from '../../src/options/options.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../../src/options/table.js'
import { folderWith, gathered, problemsOf, resolved } from './context.js'

/** A value of each option that is not its default, as text. `Record` holds this to the table. */
const SAMPLES: Record<OptionName, string> = {
  port: '4321',
  host: 'localhost',
  basePath: '/api/v2',
  cors: 'http://localhost:3000',
  store: 'mine.json',
  inMemory: 'true',
  fixtures: 'seeds',
  pets: '5',
  reset: 'true',
  fsync: 'true',
  redis: 'redis://127.0.0.1:6379',
  redisFile: 'redis.txt',
  group: 'checkout',
  redisWait: '1',
  order: 'oldest',
  plan: 'pro',
  limits: '5/min',
  rateLimit: 'false',
  apiKey: 'mine:pro',
  anyKey: 'true',
  retryAfter: 'none',
  limitBody: 'html',
  banAfter: '3',
  banDuration: '1m',
  banStatus: '403',
  reason: 'false',
  storm: '0.3',
  fault: 'listPets:503',
  latency: '5ms',
  senders: '3',
  mock: 'listPets',
  sunset: 'after',
  sunsetStatus: '410',
  scenario: 'banned',
  now: '2026-03-01T10:00:00Z',
  freeze: 'true',
  seed: '42',
  spec: 'mine.yaml',
  strict: 'true',
  upstream: 'https://staging.example/v1',
  upstreamApiKeyFile: 'key.txt',
  upstreamWrites: 'refuse',
  upstreamTimeout: '3s',
  upstreamCa: 'ca.pem',
  record: 'seen',
  maxStore: '1GiB',
  maxSpaces: '3',
  logLimit: '4',
  log: 'json',
  controlToken: 'secret',
  controlOrigin: 'http://localhost:6006',
}

/** What an option needs beside it. */
function beside(name: OptionName): { readonly redis?: string } {
  return name === 'group' || name === 'redisWait' ? { redis: SAMPLES.redis } : {}
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

describe.each(OPTION_NAMES)('the option %s', (name) => {
  const config = (line: string) => folderWith({ 'petstore-sandbox.yaml': line })
  const plain = (options: ResolvedOptions, cwd = CWD) => JSON.parse(JSON.stringify(options).replaceAll(cwd, CWD))
  const expected = () => plain(resolved({ ...beside(name), [name]: natural(name) }, CWD))

  it('changes something', () => {
    expect(expected()).not.toEqual(plain(resolved(beside(name), CWD)))
  })

  it('is a flag', () => {
    const cwd = config('')
    expect(plain(gathered({ flags: flagsOf(name), cwd }), cwd)).toEqual(expected())
  })

  it('has a twin in the environment', () => {
    const cwd = config('')
    const option = { name, negated: optionRow(name).negative === true }
    const text = option.negated ? String(SAMPLES[name] !== 'true') : SAMPLES[name]
    expect(plain(gathered({ flags: beside(name), env: { [envName(option)]: text }, cwd }), cwd)).toEqual(expected())
    expect(envName(option)).toBe(`PETSTORE_SANDBOX_${flagName(name).slice(2).replaceAll('-', '_').toUpperCase()}`)
  })

  it.each(
    NAMED_OPTIONS.filter((option) => option.name === name).flatMap(
      (option) =>
        [
          [kebabName(option), option.negated],
          [camelName(option), option.negated],
        ] as const,
    ),
  )('has the config key %s', (key, negated) => {
    const value = negated ? natural(name) !== true : natural(name)
    const cwd = config(`${key}: ${JSON.stringify(value)}\n`)
    expect(plain(gathered({ flags: beside(name), cwd }), cwd)).toEqual(expected())
  })
})

describe('precedence', () => {
  const scenario = 'plan: business\nban-after: 2\nban-duration: 2m\nban-status: 401\n'
  const config = 'scenario: ./mine.yaml\nplan: enterprise\nban-after: 3\nban-duration: 3m\n'
  const env = { PETSTORE_SANDBOX_PLAN: 'pro', PETSTORE_SANDBOX_BAN_AFTER: '4' }

  it('is flag, environment, config file, scenario, default', () => {
    const cwd = folderWith({ 'petstore-sandbox.yaml': config, 'mine.yaml': scenario })
    expect(gathered({ flags: { plan: 'free' }, env, cwd }).start.settings).toMatchObject({
      plan: 'free',
      banAfter: 4,
      banDuration: 180_000,
      banStatus: 401,
      sunsetStatus: 404,
    })
  })

  it('lets --in-memory win over a store of the config file, and a store over in-memory', () => {
    expect(gathered({ flags: { inMemory: true }, config: 'store: a.json' }).store).toBeUndefined()
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
  it.each(['1', 'true', 'YES', 'on'])('reads the switch %s as on', (text) =>
    expect(gathered({ env: { PETSTORE_SANDBOX_FREEZE: text } }).start.freeze).toBe(true),
  )
  it.each(['0', 'false', 'No', 'OFF'])('reads the switch %s as off', (text) =>
    expect(gathered({ env: { PETSTORE_SANDBOX_FREEZE: text }, config: 'freeze: true' }).start.freeze).toBe(false),
  )
  it('takes an empty variable for one that is not set', () =>
    expect(gathered({ env: { PETSTORE_SANDBOX_PORT: '' }, config: 'port: 4000' }).port).toBe(4000))

  it('separates the values of a list by commas', () =>
    expect(gathered({ env: { PETSTORE_SANDBOX_API_KEY: 'a, b:pro' } }).apiKeys).toEqual([
      { key: 'a' },
      { key: 'b', plan: 'pro' },
    ]))

  it('refuses both spellings of a switch at once', () =>
    expect(
      problemsOf(() => gathered({ env: { PETSTORE_SANDBOX_REASON: '1', PETSTORE_SANDBOX_NO_REASON: '1' } })),
    ).toMatchInlineSnapshot(`
      [
        "PETSTORE_SANDBOX_NO_REASON: is given twice, also as PETSTORE_SANDBOX_REASON",
      ]
    `))

  it('warns of a variable that it does not know, but not of those of other commands', () =>
    expect(
      envLayer({
        PETSTORE_SANDBOX_PLAM: 'pro',
        PETSTORE_SANDBOX_URL: 'x',
        PETSTORE_API_KEY: 'x',
        PETSTORE_SANDBOX_: '',
      }).warnings,
    ).toMatchInlineSnapshot(`
      [
        "PETSTORE_SANDBOX_PLAM: unknown option, ignored; did you mean PETSTORE_SANDBOX_PLAN?",
        "PETSTORE_SANDBOX_: unknown option, ignored",
      ]
    `))
})
