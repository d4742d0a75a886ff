import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { packageDirectory } from '../src/system/package-files.js'
import { buildPages } from './build-pages.js'
import { emitDeclarations } from './emit-declarations.js'
import { generateContract } from './generate-contract.js'
import { keepTogether } from './keep-together.js'
import { writeNotices } from './write-notices.js'

/** Programs of the package, by their name in dist/. */
const PROGRAMS = { index: 'src/index.ts', cli: 'src/cli/main.ts', vitest: 'src/vitest/index.ts' }
/** Those that users import, and that need types. */
const PUBLIC = ['index', 'vitest'] as const
/** The thread that Prism runs in. It is bundled by itself, so that it has no part in how the others are cut into files. */
const THREADS = { 'prism-worker': 'src/contract/prism-worker.ts' }
const dist = join(packageDirectory, 'dist')

await generateContract()
if (!process.argv.includes('--generate-only')) {
  await removeOldPrograms()
  const installed = await installedWithThePackage()
  const [programs, threads, pages] = await Promise.all([
    bundle(PROGRAMS, installed, true),
    bundle(THREADS, installed, false),
    buildPages(join(dist, 'web')),
    emitDeclarations(sourcesOf(PUBLIC), join(dist, 'types'), installed),
    cp(join(packageDirectory, 'src/cli/completion/scripts'), join(dist, 'completion'), { recursive: true }),
  ])
  await writeNotices(join(dist, 'THIRD-PARTY-LICENSES.txt'), [programs, threads, pages])
}

/** Code of packages that a user's install brings stays where it is; all else goes into the bundle. */
async function bundle(
  entries: Readonly<Record<string, string>>,
  installed: readonly string[],
  together: boolean,
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: packageDirectory,
    entryPoints: existing(entries),
    outdir: 'dist',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: together,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...installed],
    // What commander requires, being CommonJS. See checkRequired.
    banner: { js: 'const require = process.getBuiltinModule' },
    plugins: together ? [keepTogether(packageDirectory, PROGRAMS.cli, await sourceFiles())] : [],
    metafile: true,
    logLevel: 'warning',
  })
  checkRequired(metafile)
  return metafile
}

/** In what is bundled, `require` has Node's own modules only: it says undefined to anything else. */
function checkRequired({ outputs }: Metafile): void {
  for (const { kind, path } of Object.values(outputs).flatMap(({ imports }) => imports)) {
    if (kind === 'require-call' && !isBuiltin(path)) throw new Error(`A bundled package requires "${path}".`)
  }
}

function existing(programs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(programs).filter(([, file]) => existsSync(join(packageDirectory, file))))
}

async function sourceFiles(): Promise<string[]> {
  const source = join(packageDirectory, 'src')
  const names = await readdir(source, { recursive: true })
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(source, name))
}

function sourcesOf(names: readonly (keyof typeof PROGRAMS)[]): readonly string[] {
  return names.map((name) => join(packageDirectory, PROGRAMS[name])).filter((file) => existsSync(file))
}

async function installedWithThePackage(): Promise<readonly string[]> {
  interface Manifest {
    readonly dependencies?: object
    readonly peerDependencies?: object
  }
  const manifest: Manifest = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8'))
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
}

/** The names of chunks change with their content, so that old ones would pile up. */
async function removeOldPrograms(): Promise<void> {
  await mkdir(dist, { recursive: true })
  const files = (await readdir(dist)).filter((name) => name.endsWith('.js'))
  await Promise.all([...files, 'types'].map((name) => rm(join(dist, name), { recursive: true, force: true })))
}
