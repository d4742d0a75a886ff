import { EMBEDDED_DEFAULTS } from '../options/defaults.js'
import type { SandboxOptions } from '../options/options.js'
import { formatProblem, OptionsError } from '../options/problem.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { resolveOptions } from '../options/resolve.js'
import { optionRow } from '../options/table.js'
import { randomSeed } from '../system/random-seed.js'
import type { SavedPage } from './saved.js'

const DISK = 'needs a disk'
const PORT = 'needs a port'
const PRISM = 'needs Prism'
const SPEC = 'needs a contract of your own'
const SERVICE = 'needs a real service behind the sandbox'

export const MISSING = {
  port: PORT,
  host: PORT,
  controlToken: PORT,
  controlOrigin: PORT,
  store: DISK,
  inMemory: DISK,
  fixtures: DISK,
  reset: DISK,
  fsync: DISK,
  record: DISK,
  generate: SPEC,
  spec: PRISM,
  mock: PRISM,
  redis: 'needs Redis',
  redisFile: 'needs Redis',
  group: 'needs Redis',
  redisWait: 'needs Redis',
  upstream: SERVICE,
  upstreamApiKeyFile: SERVICE,
  upstreamWrites: SERVICE,
  upstreamTimeout: SERVICE,
  upstreamCa: SERVICE,
  log: 'needs a terminal',
} as const satisfies Partial<Record<keyof SandboxOptions, string>>

export type MissingOption = keyof typeof MISSING

/** The options of a sandbox in a browser: all that need no disk, port, Prism, Redis or terminal. */
export interface BrowserOptions extends Omit<SandboxOptions, MissingOption> {
  /** Bytes returned by `save()`, to continue from. Pass the same other options. */
  readonly restore?: Uint8Array
}

/**
 * Checks the options and fills in the defaults. Seed and start of a frozen clock come from the saved sandbox.
 *
 * @throws OptionsError with all problems
 */
export function resolveBrowserOptions({ restore, ...options }: BrowserOptions, saved?: SavedPage): ResolvedOptions {
  const problems = Object.entries(options).flatMap(([name, value]) =>
    isMissing(name) && value !== undefined ? [problemOf(name, value)] : [],
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
