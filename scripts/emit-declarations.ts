import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { packageDirectory } from '../src/system/package-files.js'

const IMPORT = /\bfrom ['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)|\bimport ['"]([^'"]+)['"]/g

/**
 * The type declarations of the public programs, and only their dependencies.
 *
 * @param installed names of the packages that a user's install brings
 * @throws if a public type needs another package: to a user it would be `any`
 */
export async function emitDeclarations(
  entries: readonly string[],
  folder: string,
  installed: readonly string[],
): Promise<void> {
  if (entries.length === 0) return
  emit(entries, folder)
  const needed = await findNeeded(
    entries.map((entry) => join(folder, declarationName(entry))),
    installed,
  )
  const written = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = written.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  await Promise.all(files.filter((file) => !needed.has(file)).map((file) => rm(file)))
}

function emit(entries: readonly string[], folder: string): void {
  const { config } = ts.readConfigFile(join(packageDirectory, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, packageDirectory)
  const program = ts.createProgram([...entries], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: join(packageDirectory, 'src'),
    outDir: folder,
  })
  const { diagnostics } = program.emit()
  if (diagnostics.length > 0) {
    throw new Error(
      ts.formatDiagnostics(diagnostics, {
        getCurrentDirectory: () => packageDirectory,
        getCanonicalFileName: (name) => name,
        getNewLine: () => '\n',
      }),
    )
  }
}

/** Everything that declarations import, directly or not. */
async function findNeeded(entries: readonly string[], installed: readonly string[]): Promise<ReadonlySet<string>> {
  const needed = new Set(entries)
  for (const file of needed) {
    const text = await readFile(file, 'utf8')
    for (const [, ...names] of text.matchAll(IMPORT)) {
      const name = names.find((one) => one !== undefined) ?? ''
      if (name.startsWith('.')) needed.add(resolve(dirname(file), name.replace(/\.js$/, '.d.ts')))
      else if (!name.startsWith('node:') && !installed.some((one) => name === one || name.startsWith(`${one}/`))) {
        throw new Error(`${file} is a public type and needs "${name}", which a user's install does not bring.`)
      }
    }
  }
  return needed
}

function declarationName(entry: string): string {
  return entry.slice(join(packageDirectory, 'src/').length).replace(/\.ts$/, '.d.ts')
}
