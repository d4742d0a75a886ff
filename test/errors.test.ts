import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FAILURE_FIXES } from '../src/advice/fixes.js'
import { runCli } from '../src/cli/run-cli.js'
import { FAILURE_EXIT_CODES } from '../src/domain/failures.js'
import { PROBLEMS } from '../src/domain/problems.js'
import { packageDirectory } from '../src/system/package-files.js'
import { testIo } from './cli/test-io.js'

const CATALOGUES = ['domain/failures.ts', 'domain/problems.ts']
const SRC = join(packageDirectory, 'src')
const SOURCES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.includes('generated') && !CATALOGUES.includes(file))
  .map((file) => readFileSync(join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''))

/** How the source names a failure's code. */
const THROWN = [
  /(?:new (?:Failure|\w+Error)|super)\(\s*'([A-Z]+(?:_[A-Z]+)*)'/g,
  /cannot\('([A-Z_]+)'/g,
  /readonly code = '([A-Z_]+)'/g,
  /[`']([A-Z]+(?:_[A-Z]+)*): /g,
  /'(INTERNAL)'/g,
]

const DOCUMENT = readFileSync(join(packageDirectory, 'docs/errors.md'), 'utf8')

/** The rows of the table under a heading, by their code. */
function rowsUnder(heading: string): ReadonlyMap<string, readonly string[]> {
  const section = DOCUMENT.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)]
  return new Map(rows.map(([, code = '', cells = '']) => [code, cells.split(' | ')]))
}

function matches(patterns: readonly RegExp[]): ReadonlySet<string> {
  const found = SOURCES.flatMap((text) => patterns.flatMap((pattern) => [...text.matchAll(pattern)]))
  return new Set(found.map(([, code = '']) => code))
}

it('the catalogue of failures has every code that is thrown, and none that is not', () => {
  expect([...matches(THROWN)].sort()).toEqual(Object.keys(FAILURE_EXIT_CODES).sort())
})

it('the catalogue of problems has only codes that are used', () => {
  const unused = Object.keys(PROBLEMS).filter((code) => !SOURCES.some((text) => text.includes(`'${code}'`)))
  expect(unused).toEqual([])
})

describe('docs/errors.md', () => {
  it('lists every code that only programs see', () => {
    const thrown = matches([/new ControlError\(\s*'([a-z_]+)'/g])
    expect([...rowsUnder('In a program').keys()]).toEqual([...thrown].filter((code) => !(code in PROBLEMS)))
  })

  it('lists every code that only call tells', () => {
    const codes = [...matches([/^\s+code: '([a-z_]+)',$/gm]), 'http_<status>']
    expect([...rowsUnder('From `call`').keys()]).toEqual(codes)
  })

  it('mentions only existing commands and flags', async () => {
    const spans = [
      ...[DOCUMENT, ...Object.values(FAILURE_FIXES)]
        .join('\n')
        .matchAll(
          /`(?:petstore-sandbox )?((?:control|call|target|serve|init|verify|exec)?(?: [a-z]+)*) ?(--[a-z-]+)?[^`]*`/g,
        ),
    ]
    const named = spans.filter(([, words = '', flag]) => words.includes(' ') || flag !== undefined)
    expect(named.length).toBeGreaterThan(20)
    for (const [span, words = '', flag = ''] of named) {
      const io = testIo()
      const usesServe = words === '' || words === 'serve'
      await runCli(usesServe ? ['serve', '--help-all'] : [...words.split(' '), '--help'], io)
      expect(io.stdout.text, span).toContain(`Usage: petstore-sandbox ${words || 'serve'} `)
      expect(io.stdout.text, span).toContain(flag)
    }
  })

  it('says of everything what to do about it', () => {
    expect(Object.values(FAILURE_FIXES).filter((fix) => !/^[A-Z].*\.$/.test(fix))).toEqual([])
    const rows = [...DOCUMENT.matchAll(/^\| `.*$/gm)].map(([row]) => row.split(' | ').at(-1) ?? '')
    expect(rows.filter((cure) => !/^[`A-Z].*\. \|$/.test(cure))).toEqual([])
  })
})
