import { EMBEDDED_DEFAULTS, OptionsError } from '../options/options.js'
import { formatProblem } from '../options/problem.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { resolveOptions } from '../options/resolve.js'
import { optionRow } from '../options/table.js'
import { randomSeed } from '../system/this-process.js'
import { type BrowserOptions, MISSING, type MissingOption } from './options.js'
import type { SavedPage } from './saved.js'

/**
 * Checks the options and fills in the defaults. Seed and start of a frozen clock come from the saved sandbox.
 *
 * @throws OptionsError with all problems
 */
export function resolveBrowserOptions(
  { restore, spec, ...options }: BrowserOptions,
  saved?: SavedPage,
): ResolvedOptions {
  const problems = Object.entries(options).flatMap(([name, value]) =>
    isMissing(name) && value !== undefined && !(name === 'generate' && spec !== undefined)
      ? [problemOf(name, value)]
      : [],
  )
  if (problems.length > 0) throw new OptionsError(problems)
  const seed = () => saved?.seed ?? randomSeed()
  const resolved = resolveOptions(options, { defaults: EMBEDDED_DEFAULTS, cwd: '', randomSeed: seed })
  if (resolved.upstream !== undefined) throw new OptionsError([problemOf('upstream', resolved.upstream, 'scenario: ')])
  const { start } = resolved
  if (saved?.now === undefined || start.now !== undefined) return resolved
  return { ...resolved, start: { ...start, now: saved.now } }
}

function isMissing(name: string): name is MissingOption {
  return Object.hasOwn(MISSING, name)
}

function problemOf(name: MissingOption, value: unknown, where = ''): string {
  return formatProblem(
    where + name,
    value,
    `${MISSING[name]}, which is not available in a browser; remove the option`,
    optionRow(name).secret,
  )
}
