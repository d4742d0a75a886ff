import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { packageDirectory } from '../src/system/package-files.js'

/** The folder of the package that a bundled file is from; the innermost one, where packages are nested. */
const PACKAGE_FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

/**
 * Writes the licences of all packages whose code is in the bundles, as they
 * ask for: a user's install does not bring these packages, only their code.
 *
 * @param bundles what esbuild says of each bundle; paths are relative to the package's folder
 * @throws Error if a package has no licence to copy
 */
export async function writeNotices(file: string, bundles: readonly Metafile[]): Promise<void> {
  const folders = new Set<string>()
  for (const { outputs } of bundles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
        const folder = PACKAGE_FOLDER.exec(input)?.[1]
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder)
      }
    }
  }
  const notices = await Promise.all([...folders].toSorted().map(readNotice))
  const intro = 'Parts of these packages are in the files of this folder. Swagger UI has its own notices in web/.'
  await writeFile(file, `${[intro, ...notices].join(`\n\n${'-'.repeat(72)}\n\n`)}\n`)
}

async function readNotice(folder: string): Promise<string> {
  const directory = join(packageDirectory, folder)
  const { name, version, license }: Record<string, string> = JSON.parse(
    await readFile(join(directory, 'package.json'), 'utf8'),
  )
  const licence = (await readdir(directory)).find((entry) => /^licen[cs]e/i.test(entry))
  if (licence === undefined) throw new Error(`${name} is bundled, but has no licence file to copy.`)
  return `${name} ${version} (${license})\n\n${(await readFile(join(directory, licence), 'utf8')).trim()}`
}
