import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/package-files.js'

/** What `serve` loads by itself: its entry, its command, and the sandbox. */
const LOADED = ['src/cli/main.ts', 'src/cli/serve.ts', 'src/sandbox.ts']

/** Packages that a file and what it imports bring at once; types and `import()` bring nothing. */
function packagesOf(file: string, seen = new Set<string>(), found = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return found
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, what = '', specifier = ''] of text.matchAll(/^(?:import|export) ([^;]*?)from '([^']+)'/gms)) {
    if (what.startsWith('type ')) continue
    if (specifier.startsWith('.')) packagesOf(sourceOf(join(dirname(file), specifier)), seen, found)
    else if (!specifier.startsWith('node:')) found.add(specifier)
  }
  return found
}

/** What is generated at build time is JavaScript already. */
function sourceOf(file: string): string {
  return existsSync(file) ? file : file.replace(/\.js$/, '.ts')
}

it('serve starts without what only some need: YAML, colours, Prism, ajv, lowdb', () => {
  const packages = LOADED.flatMap((file) => [...packagesOf(join(packageDirectory, file))])
  expect([...new Set(packages)].sort()).toEqual(['commander', 'valibot'])
})
