import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EMBEDDED_DEFAULTS, OptionsError, type SandboxOptions, type StartDefaults } from '../../src/options/options.js'
import { type ResolvedOptions, resolveLayers, resolveOptions } from '../../src/options/resolve.js'
import { configLayer, envLayer, type FlagValues, flagLayer } from '../../src/options/sources.js'
import type { Environment } from '../../src/system/this-process.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** The seed of every test that names none. */
const SEED = 7

/** A store by default, so that --in-memory makes a difference too. */
const defaults: StartDefaults = { ...EMBEDDED_DEFAULTS, store: 'default.json' }

/** A folder with these files in it, gone after the test. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** Options of a program, of any shape, for tests of invalid ones. */
export function resolved(input: object = {}, cwd = '/'): ResolvedOptions {
  return resolveOptions(input as SandboxOptions, { defaults, cwd, randomSeed: () => SEED })
}

/** Options as `serve` finds them. */
export function gathered(
  sources: { flags?: FlagValues; env?: Environment; config?: string; cwd?: string } = {},
): ResolvedOptions {
  const cwd = sources.cwd ?? folderWith(sources.config === undefined ? {} : { 'petstore-sandbox.yaml': sources.config })
  return resolveLayers([flagLayer(sources.flags ?? {}, cwd), envLayer(sources.env ?? {}, cwd), configLayer(cwd)], {
    defaults,
    cwd,
    randomSeed: () => SEED,
  })
}

/** The problems of options, one per line. */
export function problemsOf(resolve: () => unknown): readonly string[] {
  try {
    resolve()
  } catch (error) {
    if (error instanceof OptionsError) return error.problems
    throw error
  }
  return []
}
