import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { packageDirectory } from '../src/system/package-files.js'
import { loadedLater } from './keep-together.js'

const SANDBOX = 'src/browser/create-sandbox.ts'
const CLIENT = 'src/api/over-network.ts'

/** What pages and workers run. */
export const FOR_BROWSERS = {
  absWorkingDir: packageDirectory,
  outdir: 'dist',
  bundle: true,
  minify: true,
  platform: 'browser',
  format: 'esm',
  // A bundler of the user's may lower the target.
  target: ['chrome111', 'firefox115', 'safari16.4'],
  // All licences are in THIRD-PARTY-LICENSES.txt.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/** Prefers `<name>.browser.ts` over `<name>.ts`, as the tsconfig of src/browser does. */
export const browserTwins: Plugin = {
  name: 'browser-twins',
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path, resolveDir }) => {
      const twin = join(resolveDir, path.replace(/\.js$/, '.browser.ts'))
      return existsSync(twin) ? { path: twin } : undefined
    })
  },
}

/** Modules that a browser sandbox imports but never calls: it has no files, and no service behind it. */
const NEVER_CALLED = [
  'core/forward',
  'core/unlogged-reply',
  'domain/redis-address',
  'fixtures/generated-pets',
  'fixtures/read-fixtures',
  'options/yaml-map',
]

const withoutUncalled: Plugin = {
  name: 'without-uncalled',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: nameOf(NEVER_CALLED) }, ({ path, resolveDir }) =>
      NEVER_CALLED.includes(moduleAt(resolveDir, path)) ? { path: 'empty', namespace: 'empty' } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'empty' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/** Modules that only contracts of one's own call, and that load with them. */
const FOR_OWN_CONTRACTS = [
  'contract/counted-value',
  'contract/nested-values',
  'contract/pattern-text',
  'contract/rare-styles',
  'contract/shaped-value',
  'core/documented-error',
  'core/documented-limits',
  'core/entity-tags',
  'core/envelopes',
  'core/fill-error',
  'core/hidden-properties',
  'core/idempotency',
  'core/json-patch',
  'core/linked-records',
  'core/logins',
  'core/meta-entries',
  'core/new-ids',
  'core/parent-records',
  'core/operations/mocked-response',
  'core/operations/shown-only',
  'core/record-page',
  'core/removals',
  'core/unique-values',
  'core/what-works',
  'domain/default-keys',
  'domain/login-tokens',
  'domain/other-key-places',
  'domain/range',
]
const OWN_CONTRACT = 'src/browser/own-contract.ts'

/** Gives the base variables in place of their exports, which the chunk with the reader of contracts sets. */
const ownContractsLater: Plugin = {
  name: 'own-contracts-later',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: nameOf(FOR_OWN_CONTRACTS) }, ({ path, resolveDir, importer }) => {
      const module = moduleAt(resolveDir, path)
      const isLater = FOR_OWN_CONTRACTS.includes(module) && !importer.endsWith(OWN_CONTRACT)
      return isLater ? { path: module, namespace: 'later' } : undefined
    })
    onResolve({ filter: /^later:/ }, ({ path }) => ({ path: path.slice('later:'.length), namespace: 'later' }))
    onLoad({ filter: /^/, namespace: 'later' }, async ({ path }) => {
      const text = await readFile(join(packageDirectory, 'src', `${path}.ts`), 'utf8')
      const names = Array.from(text.matchAll(/^export (?:const|function) (\w+)/gm), ([, name]) => name).join(', ')
      return { contents: `export let ${names}\nexport function set(all) { ({ ${names} } = all) }` }
    })
    onLoad({ filter: /src\/browser\/own-contract\.ts$/ }, async ({ path }) => {
      const parts = FOR_OWN_CONTRACTS.map(
        (module, at) =>
          `import * as part${at} from '../${module}.js'\nimport { set as set${at} } from 'later:${module}'\nset${at}(part${at})\n`,
      )
      return {
        contents: (await readFile(path, 'utf8')) + parts.join('') + reaching(SANDBOX, 'createSandbox'),
        loader: 'ts',
      }
    })
  },
}

/** Imports of modules with the names of these, in any folder. */
function nameOf(modules: readonly string[]): RegExp {
  return new RegExp(`/(?:${modules.map((name) => name.replace(/^.*\//, '')).join('|')})\\.js$`)
}

/** Below src/, without its extension. */
function moduleAt(folder: string, path: string): string {
  return relative(join(packageDirectory, 'src'), join(folder, path.replace(/\.js$/, '')))
}

/** Descriptions of options and verbs stay out: browsers have no help, and the dashboard has its own copy. */
const withoutHelp: Plugin = {
  name: 'without-help',
  setup({ onLoad }) {
    onLoad({ filter: /src\/domain\/settings\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        /^( +(?:description|see|label|hint|value|example):)\s*(['"`]).*\2,$/gm,
        "$1 '',",
      ),
      loader: 'ts',
    }))
    // Nothing of the packaged contract reads these.
    onLoad({ filter: /contract\/generated\/validators\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replace(/\bschemaPath:\s*"[^"]*",/g, '')
        .replace(/\bparams:\s*\{(?:minimum|allowedValues|type):[^}]*\}/g, 'params:{}')
        .replace(/,\s*message:\s*"must (?:be object|have required)[^}]*(?=\})/g, ''),
      loader: 'js',
    }))
    // Only `call --help` shows it.
    onLoad({ filter: /contract\/generated\/contract-data\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/^ +"wording": ".*",?\n/gm, ''),
      loader: 'ts',
    }))
    onLoad({ filter: /src\/control\/verbs(?:\/\w+)?\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replace(/^ +(?:details|command):\s*(['"`]).*\1,\n/gm, '')
        .replace(/(\bverb\('[A-Z]+ [^']*', )(['"]).*\2(, \{)$/gm, "$1''$3")
        .replace(/(\bdescribed\(.*, )(['`]).*?\2\)/g, "$1'')"),
      loader: 'ts',
    }))
    onLoad({ filter: /src\/options\/rows\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/^export const OPTIONS = \{.*?^\}/ms, withoutPhrases),
      loader: 'ts',
    }))
  },
}

/** Keeps names. */
function withoutPhrases(rows: string): string {
  return rows.replaceAll(/"[^"\n]*"|'([^'\n]*)'/g, (whole, text = ' ') => (text.includes(' ') ? "''" : whole))
}

/** Makes each lazy part reach everything loaded before it, so that the base stays in one file. */
function inOneFile(sources: readonly string[], base: string, name: string): Plugin {
  return {
    name: 'in-one-file',
    async setup({ onLoad }) {
      const later = await loadedLater(sources)
      onLoad({ filter: /src\/.*\.ts$/ }, async ({ path }) => {
        if (!later.has(path.replace(/\.browser\.ts$/, '.ts'))) return undefined
        return { contents: (await readFile(path, 'utf8')) + reaching(base, name), loader: 'ts' }
      })
    },
  }
}

/** Not a bare import, which packages without side effects would drop. */
function reaching(base: string, name: string): string {
  return `\nexport { ${name} as there } from ${JSON.stringify(join(packageDirectory, base))}\n`
}

/** @param sources all source files @returns the metafiles of the bundles */
export async function buildBrowser(sources: readonly string[]): Promise<readonly Metafile[]> {
  const sandbox = await build({
    ...FOR_BROWSERS,
    entryPoints: { browser: 'src/browser/index.ts' },
    splitting: true,
    chunkNames: 'browser-[name]-[hash]',
    plugins: [
      ownContractsLater,
      inOneFile(sources, SANDBOX, 'createSandbox'),
      withoutHelp,
      withoutUncalled,
      browserTwins,
    ],
  })
  const client = await build({
    ...FOR_BROWSERS,
    entryPoints: { client: 'src/browser/client.ts' },
    splitting: true,
    chunkNames: 'client-[name]-[hash]',
    plugins: [inOneFile(sources, CLIENT, 'connectSandbox'), browserTwins],
  })
  const outputs = [sandbox, client].flatMap(({ metafile }) => Object.keys(metafile.outputs))
  await Promise.all(outputs.map(dropBareImports))
  const { minify: _no, ...asWritten } = FOR_BROWSERS
  const msw = await build({ ...asWritten, entryPoints: { msw: 'src/msw/index.ts' }, external: ['msw'] })
  return [sandbox.metafile, client.metafile, msw.metafile]
}

/**
 * esbuild also imports chunks for their side effects only. package.json ("sideEffects") rules these out, and esbuild
 * would warn a user who bundles both.
 */
async function dropBareImports(output: string): Promise<void> {
  const file = join(packageDirectory, output)
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replaceAll(/\bimport"\.\/(?:browser|client)-chunk-\w+\.js";/g, ''),
  )
}
