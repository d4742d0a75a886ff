import { EMBEDDED_DEFAULTS, type SandboxOptions } from '../../src/options/options.js'
import { type ResolvedOptions, resolveOptions } from '../../src/options/resolve.js'

/** Options of an embedded sandbox with a fixed seed. */
export function embeddedOptions(options: SandboxOptions = {}): ResolvedOptions {
  return resolveOptions(options, { defaults: EMBEDDED_DEFAULTS, cwd: process.cwd(), randomSeed: () => 1 })
}
