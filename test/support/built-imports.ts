import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { packageDirectory } from '../../src/system/package-files.js'

interface BuiltImport {
  readonly name: string
  readonly isFile: boolean
  /** With `import()`. */
  readonly isLater: boolean
}

/** The imports of programs in dist, and of all files reachable from them, by file name. */
export async function builtImports(programs: readonly string[]): Promise<ReadonlyMap<string, readonly BuiltImport[]>> {
  const { metafile } = await build({
    absWorkingDir: join(packageDirectory, 'dist'),
    entryPoints: [...programs],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir: 'unwritten',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  return new Map(
    Object.entries(metafile.inputs).map(([file, { imports }]) => [
      basename(file),
      imports.map(({ path, external = false, kind }) => ({
        name: external ? path : basename(path),
        isFile: !external,
        isLater: kind === 'dynamic-import',
      })),
    ]),
  )
}
