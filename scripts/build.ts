import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { configSchemaFile, packageDirectory } from '../src/system/package-files.js'
import { buildBrowser } from './build-browser.js'
import { buildCompletion } from './build-completion.js'
import { buildPages } from './build-pages.js'
import { directBuiltins } from './direct-builtins.js'
import { generateContract } from './generate-contract.js'
import { generateControl } from './generate-control.js'
import { generateEmbedded } from './generate-embedded.js'
import { generateFixtures } from './generate-fixtures.js'
import { isUpToDate } from './is-up-to-date.js'
import { keepTogether } from './keep-together.js'
import { leanPackages, OPTIONAL } from './lean-packages.js'
import { scalarPackages } from './scalar.js'
import { writeNotices } from './write-notices.js'

/** Programs of the package, by their name in dist/. */
const PROGRAMS = {
  index: 'src/index.ts',
  cli: 'src/cli/main.ts',
  vitest: 'src/vitest/index.ts',
  playwright: 'src/playwright/index.ts',
  matchers: 'src/matchers/index.ts',
}
/** Those for pages and workers. */
const BROWSER_PROGRAMS = {
  browser: 'src/browser/index.ts',
  client: 'src/browser/client.ts',
  msw: 'src/msw/index.ts',
}
/** Those that users import, and that need types. */
const PUBLIC = ['index', 'vitest', 'playwright', 'matchers', 'browser', 'client', 'msw'] as const
const dist = join(packageDirectory, 'dist')
const FOR_NODE = {
  absWorkingDir: packageDirectory,
  bundle: true,
  platform: 'node',
  target: 'node20',
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/** The last file of every build. */
const NOTICES = join(dist, 'THIRD-PARTY-LICENSES.txt')

if (process.argv.includes('--generate-only')) await generate()
else if (!process.argv.includes('--to-start')) await buildAll({ types: true })
else if (!(await isUpToDate(packageDirectory, NOTICES))) {
  process.stderr.write('Building petstore-sandbox from its sources, which takes a few seconds …\n')
  await buildAll({ types: false })
}

/** @param types whether to write declarations, which `npm start` does not need */
async function buildAll({ types }: { readonly types: boolean }): Promise<void> {
  await generate()
  // Chunk names change with their content.
  await rm(dist, { recursive: true, force: true })
  await mkdir(dist)
  const installed = await installedWithThePackage()
  const [programs, yaml, , browser, pages] = await Promise.all([
    bundlePrograms(installed),
    bundleYaml(),
    bundleCompileCache(),
    buildBrowser(await sourceFiles()),
    buildPages(join(dist, 'pages')),
    writeConfigSchema(),
    types && declare(installed),
    buildCompletion(join(dist, 'completion')),
  ])
  await writeNotices(NOTICES, [programs, yaml, ...browser, pages], await scalarPackages())
}

/** Generated sources. */
async function generate(): Promise<void> {
  await Promise.all([generateContract(), generateEmbedded(), generateFixtures()])
  await generateControl()
}

async function writeConfigSchema(): Promise<void> {
  // Only after the contract has been generated, which the options import.
  const { configSchema } = await import('./option-schemas.js')
  await writeFile(configSchemaFile, `${JSON.stringify(configSchema(), null, 2)}\n`)
}

async function declare(installed: readonly string[]): Promise<void> {
  const { emitDeclarations } = await import('./emit-declarations.js')
  await emitDeclarations(sourcesOf(PUBLIC), join(dist, 'types'), installed)
}

/** Packages that a user's install brings stay external; all else is bundled. */
async function bundlePrograms(installed: readonly string[]): Promise<Metafile> {
  const { metafile } = await build({
    ...FOR_NODE,
    entryPoints: existing(PROGRAMS),
    outdir: 'dist',
    chunkNames: '[name]-[hash]',
    splitting: true,
    format: 'esm',
    // Comments and whitespace slow each start, and one character beyond ASCII makes V8 use two bytes for each. Names and
    // lines stay, for stack traces.
    minifyWhitespace: true,
    lineLimit: 300,
    external: [...installed],
    // What bundled packages require, being CommonJS. See checkRequired.
    banner: { js: 'const require = process.getBuiltinModule' },
    plugins: [
      leanPackages,
      directBuiltins,
      keepTogether(packageDirectory, [PROGRAMS.cli, PROGRAMS.matchers], await sourceFiles()),
    ],
  })
  checkRequired(metafile)
  return metafile
}

/** CommonJS, because system/runtime.ts loads it synchronously. */
async function bundleYaml(): Promise<Metafile> {
  const { metafile } = await build({
    ...FOR_NODE,
    stdin: { contents: "module.exports = require('yaml')", resolveDir: packageDirectory },
    outfile: 'dist/yaml.cjs',
    format: 'cjs',
    minify: true,
  })
  return metafile
}

/** A file of its own, because what it imports is loaded before compiled code is kept. */
async function bundleCompileCache(): Promise<void> {
  const entryPoints = ['src/system/compile-cache.ts']
  await build({
    ...FOR_NODE,
    entryPoints,
    outdir: 'dist',
    format: 'esm',
    minifyWhitespace: true,
    plugins: [directBuiltins],
  })
}

/** In a bundle, `require` has Node's own modules only. */
function checkRequired({ outputs }: Metafile): void {
  for (const { kind, path } of Object.values(outputs).flatMap(({ imports }) => imports)) {
    if (kind === 'require-call' && !isBuiltin(path) && !OPTIONAL.has(path))
      throw new Error(`A bundled package requires "${path}".`)
  }
}

function existing(programs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(programs).filter(([, file]) => existsSync(join(packageDirectory, file))))
}

async function sourceFiles(): Promise<string[]> {
  const source = join(packageDirectory, 'src')
  const names = await readdir(source, { recursive: true })
  return names.filter((name) => name.endsWith('.ts') && !name.endsWith('.browser.ts')).map((name) => join(source, name))
}

function sourcesOf(names: typeof PUBLIC): readonly string[] {
  const programs = { ...PROGRAMS, ...BROWSER_PROGRAMS }
  return names.map((name) => join(packageDirectory, programs[name])).filter((file) => existsSync(file))
}

async function installedWithThePackage(): Promise<readonly string[]> {
  interface Manifest {
    readonly dependencies?: object
    readonly peerDependencies?: object
  }
  const manifest: Manifest = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8'))
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
}
