import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Plugin } from 'esbuild'

/** Parts of every sandbox. */
const SANDBOX = [
  'src/start/sandbox.ts',
  'src/options/resolve.ts',
  'src/system/this-process.ts',
  'src/exchanges/exchange-record.ts',
  // Both the command line and what is loaded later need these few lines.
  'src/client/errors.ts',
  'src/advice/curl.ts',
  'src/control/control-error.ts',
]
/** Parts of every command. */
const COMMAND_LINE = 'src/cli/run-cli.ts'

const LAZY_IMPORT = /\bimport\('(\.{1,2}\/[^']+)\.js'\)/g

/**
 * Keeps everything that a start loads in a few files. esbuild makes one chunk for each set of entries that reach a
 * module, and every lazily loaded module is an entry: `serve` had to read 40 files, at half a millisecond each. Here
 * each entry reaches everything loaded at a start, so that the sets are equal.
 *
 * @param programs entries that load the rest later
 */
export function keepTogether(directory: string, programs: readonly string[], sources: readonly string[]): Plugin {
  return {
    name: 'keep-together',
    async setup(build) {
      const lazy = await loadedLater(sources)
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!programs.includes(relative(directory, path)) && !lazy.has(path)) return undefined
        const isCommand = relative(directory, path).startsWith(`src${sep}cli${sep}`)
        const core = isCommand ? [...SANDBOX, COMMAND_LINE] : SANDBOX
        const imports = core.map((file) => `import ${JSON.stringify(join(directory, file))}\n`)
        return { contents: (await readFile(path, 'utf8')) + imports.join(''), loader: 'ts' }
      })
    },
  }
}

export async function loadedLater(sources: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await Promise.all(sources.map(lazyImportsOf))).flat())
}

async function lazyImportsOf(source: string): Promise<string[]> {
  const text = await readFile(source, 'utf8')
  return [...text.matchAll(LAZY_IMPORT)].map(([, path]) => join(dirname(source), `${path}.ts`))
}
