import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadScenario } from '../../src/options/resolve.js'
import { loadPackagedScenario, packagedScenarios, parseScenarioContent } from '../../src/options/scenario.js'
import { fixturesDirectory } from '../../src/system/package-files.js'
import { folderWith, gathered, problemsOf, resolved } from './context.js'

describe('the packaged scenarios', () => {
  it('are those that the interface names', () =>
    expect(packagedScenarios().join()).toBe('banned,brownout,flaky-network,quota-nearly-spent,storm,sunset'))

  it.each(packagedScenarios())('%s is what its file says, has a description and changes something', (name) => {
    const { description, ...scenario } = loadPackagedScenario(name)
    expect({ description, ...scenario }).toEqual(loadScenario(join(fixturesDirectory, 'scenarios', `${name}.yaml`), ''))
    expect(description).toMatch(/\w/)
    expect(scenario).not.toEqual({ settings: {}, used: {}, bans: {} })
    expect(resolved({ scenario: name }).start).not.toEqual(resolved().start)
  })

  it('start where they say', () => {
    expect(resolved({ scenario: 'quota-nearly-spent' }).start.used).toEqual({
      sandbox: { perMinute: { left: 3 }, perDay: { left: 10 } },
    })
    expect(resolved({ scenario: 'banned' }).start.bans).toEqual({ sandbox: 300_000 })
    expect(resolved({ scenario: 'sunset' }).start.now).toEqual({ ahead: -60_000, from: 'sunset' })
  })
})

describe('a scenario of the user', () => {
  it('is found relative to the working directory', () => {
    const cwd = folderWith({ 'mine/rain.yaml': 'storm: { rate: 0.1 }' })
    expect(loadScenario('mine/rain.yaml', cwd)).toEqual({ settings: {}, storm: { rate: 0.1 }, used: {}, bans: {} })
    expect(gathered({ env: { PETSTORE_SANDBOX_SCENARIO: './mine/rain.yaml' }, cwd }).start.storm).toEqual({ rate: 0.1 })
  })

  it('can be given as its content', () => {
    const content = { description: 'x', 'ban-after': 2, noRateLimit: true, used: { a: '1/day' }, ban: { b: '1s' } }
    expect(parseScenarioContent(content)).toEqual({
      description: 'x',
      settings: { banAfter: 2, rateLimit: false },
      used: { a: { perDay: 1 } },
      bans: { b: 1000 },
    })
    expect(resolved({ scenario: content }).start.settings).toMatchObject({ banAfter: 2, rateLimit: false })
  })

  it('is reported with the packaged names if it does not exist', () => {
    expect(problemsOf(() => gathered({ flags: { scenario: 'strom' } }))).toEqual([
      '--scenario "strom": is not a packaged scenario (the packaged ones are banned, brownout, flaky-network, quota-nearly-spent, storm, sunset); to name a file, write ./strom.yaml; did you mean storm?',
    ])
    expect(problemsOf(() => gathered({ config: 'scenario: ./strom.yaml' }))).toEqual([
      'petstore-sandbox.yaml:1:1: scenario "./strom.yaml": the file does not exist; packaged scenarios are banned, brownout, flaky-network, quota-nearly-spent, storm, sunset',
    ])
    expect(problemsOf(() => loadPackagedScenario('../scenarios/storm'))).toHaveLength(1)
  })

  it('that is wrong is reported with file and line', () => {
    const cwd = folderWith({
      'mine.yaml': `description: 5
plan: a b
port: 4000
strom: 0.3
storm:
  rate: 2
used:
  sandbox: 57
  'a b': 1/min
ban:
  sandbox: 5
`,
    })
    expect(problemsOf(() => gathered({ flags: { scenario: 'mine.yaml' }, cwd }))).toMatchInlineSnapshot(`
      [
        "mine.yaml:3:1: port: cannot be set by a scenario; use --port or PETSTORE_SANDBOX_PORT",
        "mine.yaml:4:1: strom: cannot be set by a scenario; did you mean storm?",
        "mine.yaml:1:1: description "5": must be a string",
        "mine.yaml:8:12: used.sandbox "57": must be requests of the minute, the day or both, for example 57/min,990/day, all-3/min or all",
        "mine.yaml:9:10: used.a b "a b": must consist of letters, digits and . _ - + /, with = only at the end, at most 4096 characters ("~" marks spaces)",
        "mine.yaml:11:12: ban.sandbox "5": must be a whole number with a unit, for example 500ms, 30s, 5m or 24h",
        "mine.yaml:2:1: plan "a b": must be a plan of the contract",
        "mine.yaml:6:9: storm.rate "2": must be from 0 to 1",
      ]
    `)
  })

  it.each([[null], ['storm'], [[]], [5]])('is not %j', (content) =>
    expect(problemsOf(() => parseScenarioContent(content))).toEqual([
      expect.stringMatching(/^scenario ".*": must be an object of switches$/),
    ]),
  )
})
