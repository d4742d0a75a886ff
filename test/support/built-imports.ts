import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { packageDirectory } from '../../src/system/package-files.js'

/** What a file of dist imports: other files of it, or modules by their name. */
interface BuiltImport {
  readonly name: string
  readonly isFile: boolean
  /** By `import()`. */
  readonly isLater: boolean
}

/** The imports of programs in dist, and of all files of it that these reach, by name. */
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
