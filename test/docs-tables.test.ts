import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS, withTables } from '../scripts/document-tables.js'
import { METHODS } from '../scripts/generate-methods.js'
import { createSandbox } from '../src/api/start.js'
import { EXIT_CODES_HELP } from '../src/cli/io.js'
import { COMMANDS } from '../src/cli/run-cli.js'
import { VIOLATIONS, WARNINGS } from '../src/conduct/conduct-view.js'
import { PAGE_FILES } from '../src/control/pages.js'
import { FAULTS } from '../src/domain/faults.js'
import { REASONS } from '../src/domain/problems.js'
import { ENV_PREFIX, envName, flagName, NAMED_OPTIONS } from '../src/options/names.js'
import { OTHER_VARIABLES } from '../src/options/rows.js'
import { packagedScenarios } from '../src/options/scenario.js'
import { OPTION_NAMES, optionRow } from '../src/options/table.js'
import { fixturesDirectory } from '../src/system/package-files.js'
import { everyCommand, helpOf } from './cli/every-command.js'
import { codesIn, GUIDES, plain, readDocument, sectionOf, tablesOf } from './support/documents.js'

const README = readDocument('README.md')
const SWITCHES = readDocument('docs/switches.md')
const CONTROL = readDocument('docs/control-api.md')
const CONDUCT = readDocument('docs/conduct.md')

/** First cells of the one table that a text has. */
function firstCells(text: string): readonly string[] {
  const tables = tablesOf(text)
  expect(tables).toHaveLength(1)
  return (tables[0] ?? []).map(([cell = '']) => plain(cell))
}

describe('README.md', () => {
  it('lists every key of the fixtures, and no other', () => {
    const keys: readonly { readonly key: string }[] = JSON.parse(
      readFileSync(join(fixturesDirectory, 'keys.json'), 'utf8'),
    )
    const listed = tablesOf(sectionOf(README, 'Keys'))
      .flat()
      .flatMap(([cell = '']) => codesIn(cell))
    expect(listed).toEqual(keys.map(({ key }) => key))
  })

  it('states only measured speeds', () => {
    const [, ...said] = /sent ([\d,]+) lists a second, the sandbox ([\d,]+)\./.exec(README.text) ?? []
    const { text } = readDocument('docs/benchmarks.md')
    const measured = [/^\| bare node:http \| ([\d,]+) /m, /^\| petstore-sandbox, 120 pets \| ([\d,]+) /m]
    expect(said).toEqual(measured.map((row) => row.exec(text)?.[1]))
    expect(said).toHaveLength(2)
  })
})

describe('docs/switches.md', () => {
  it('lists every option that a file cannot set, and no other', () => {
    const listed = tablesOf(sectionOf(SWITCHES, 'What a file cannot set'))
      .flat()
      .flatMap(([cell = '']) => codesIn(cell))
    const rows = OPTION_NAMES.filter((name) => optionRow(name).notInFiles)
    expect(listed.map((name) => `--${name}`).sort()).toEqual(rows.map(flagName).sort())
  })

  it('lists every packaged scenario, and no other', () => {
    expect([...firstCells(sectionOf(SWITCHES, 'Scenarios'))].sort()).toEqual([...packagedScenarios()].sort())
  })

  it('lists every fault, and no other', () => {
    expect(firstCells(sectionOf(SWITCHES, 'Faults'))).toEqual(FAULTS)
  })
})

it('docs/behaviour.md names every reason, and no other', () => {
  const section = sectionOf(readDocument('docs/behaviour.md'), 'X-Sandbox-Reason')
  expect(codesIn(section).filter((code) => !code.startsWith('--'))).toEqual(REASONS)
})

it('docs/conduct.md lists every rule, violations first, and no other', () => {
  const [violations = [], warnings = []] = tablesOf(sectionOf(CONDUCT, 'The rules')).map((rows) =>
    rows.flatMap(([cell = '']) => codesIn(cell)),
  )
  expect(violations).toEqual(VIOLATIONS)
  expect(warnings).toEqual(WARNINGS)
})

it.each(DOCUMENTS)('%s has the tables that `npm run generate` writes', (file) => {
  const { text } = readDocument(file)
  expect(withTables(text)).toBe(text)
})

describe('docs/control-api.md', () => {
  const codes = codesIn(CONTROL.text)

  it('has every verb under one heading', () => {
    const { text } = CONTROL
    const missing = METHODS.filter(({ path }) => !text.includes(`| \`${path}(`))
    expect(missing.map(({ path }) => path)).toEqual([])
  })

  it('names every command that does a verb', async () => {
    const all = (await everyCommand()).filter(([first]) => first === 'control').map((path) => path.slice(1).join(' '))
    const groups = all.filter((command) => all.some((other) => other.startsWith(`${command} `)))
    const others = ['', 'wait', 'requests show', ...groups]
    const words = METHODS.map(({ path }) => path.replaceAll('.', ' '))
    const isNamed = (command: string) =>
      words.includes(command) || codes.some((code) => code === command || code.startsWith(`${command} `))
    expect(all.filter((command) => !others.includes(command) && !isNamed(command))).toEqual([])
  })

  it('names every method', async () => {
    await using sandbox = await createSandbox()
    const elsewhere = ['space', 'key', 'fetch', 'handle', 'close']
    const isNamed = (method: string) => codes.some((code) => code.startsWith(`${method}(`))
    expect(methodsOf(sandbox).filter((method) => !elsewhere.includes(method) && !isNamed(method))).toEqual([])
  })

  it('lists every other path, and no more', () => {
    const assets = /^\/assets\//
    const pages = Object.keys(PAGE_FILES).filter((path) => !assets.test(path))
    const documents = ['/openapi.yaml', '/openapi.json', '/control.openapi.yaml', '/llms.txt']
    const paths = [...pages, ...documents, '/health', '/requests/stream']
    expect([...firstCells(sectionOf(CONTROL, 'Other paths'))].sort()).toEqual(paths.map((path) => `GET ${path}`).sort())
  })
})

/** `clock.advance`, for whatever can be called. */
function methodsOf(controls: object, path: readonly string[] = []): readonly string[] {
  return Object.entries(controls).flatMap(([name, value]: [string, unknown]) => {
    const here = [...path, name]
    const own = typeof value === 'function' ? [here.join('.')] : []
    const inside = Object(value) === value ? methodsOf(Object(value), here) : []
    return [...own, ...inside]
  })
}

it('docs/cli.md has a section for every command, and no other', () => {
  const commands = [...readDocument('docs/cli.md').text.matchAll(/^## ([a-z]+)$/gm)].map(([, name]) => name)
  expect(commands).toEqual(COMMANDS.map(({ name }) => name))
})

it('docs/cli.md lists every exit code of the help, and no other', () => {
  const inHelp = [...EXIT_CODES_HELP.matchAll(/^ {2}(\d[\d, ]*?) {2}/gm)].map(([, codes]) => codes)
  expect(firstCells(sectionOf(readDocument('docs/cli.md'), 'Exit codes'))).toEqual(inHelp)
})

it('the guides mention only existing flags and variables', async () => {
  const helps = await Promise.all((await everyCommand()).map((path) => helpOf(path)))
  const flags = new Set([...helps.flatMap((help) => help.match(/--[a-z][a-z-]+/g) ?? []), HIDDEN_FLAG])
  const others = Object.keys(OTHER_VARIABLES).map((name) => ENV_PREFIX + name)
  const variables = new Set([...NAMED_OPTIONS.map(envName), ...others])
  for (const { file, text } of GUIDES) {
    const named = codesIn(text).flatMap((code) => (/^(?:npm|docker|git) /.test(code) ? [] : [code]))
    const unknown = named
      .flatMap((code) => code.match(/(?<![\w-])--[a-z][a-z-]+/g) ?? [])
      .filter((flag) => !flags.has(flag))
    expect(unknown, file).toEqual([])
    const own = named.flatMap((code) => code.match(/PETSTORE_SANDBOX_[A-Z_]+/g) ?? [])
    expect(
      own.filter((name) => !variables.has(name)),
      file,
    ).toEqual([])
  }
})

/** Another name of `-o json`, which no help shows. */
const HIDDEN_FLAG = '--json'
