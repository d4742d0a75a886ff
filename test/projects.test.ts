import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { createVitest } from 'vitest/node'
import { packageDirectory } from '../src/system/package-files.js'

/** Modules that only tests with a build or with processes of their own import. */
const NOT_FOR_UNIT = /^(node:child_process|playwright-core)$/

/** Programs of their own, and projects of users. */
const PROGRAMS = /^(?:proofs|recipes.projects)\b/

/** A second or more, which a busy machine can use up. */
const OWN_LIMIT =
  /^ {0,4}\}, \d[\d_]{3,}\)|timeout: \d[\d_]{3,}|\b(?:waitFor|waitUntil)\(.*, \d[\d_]{3,}\)|test-?timeout[ =]\d/i

/** Everything that a test file imports, directly or through test/. */
function importsOf(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const specifiers = [...readFileSync(file, 'utf8').matchAll(/^(?:import|\} from|export) .*?'([^']+)'$/gm)].map(
    ([, specifier = '']) => specifier,
  )
  const ours = specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(dirname(file), specifier.replace(/\.js$/, '.ts')))
    .filter((path) => path.startsWith(join(packageDirectory, 'test/')))
  return [...specifiers, ...ours.flatMap((path) => importsOf(path, seen))]
}

it('a unit test starts no process: others are named *.integration.test.ts, or lie in test/cli/', async () => {
  const vitest = await createVitest('test', { watch: false })
  try {
    const files = (await vitest.globTestSpecifications()).map(({ moduleId }) => moduleId)
    expect(files).toContain(join(packageDirectory, 'test/projects.test.ts'))
    const misplaced = files.filter((file) => importsOf(file).some((specifier) => NOT_FOR_UNIT.test(specifier)))
    expect(misplaced.map((file) => relative(packageDirectory, file))).toEqual([])
  } finally {
    await vitest.close()
  }
})

it('a test has no time limit of its own', () => {
  const files = readdirSync(join(packageDirectory, 'test'), { recursive: true, encoding: 'utf8' })
  const tests = files.filter((file) => file.endsWith('.ts') && !PROGRAMS.test(file) && !file.includes('node_modules'))
  const limits = tests.flatMap((file) => {
    const lines = readFileSync(join(packageDirectory, 'test', file), 'utf8').split('\n')
    return lines.filter((line) => OWN_LIMIT.test(line)).map((line) => `${file}: ${line.trim()}`)
  })
  expect(limits).toEqual([])
})
