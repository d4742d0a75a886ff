import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { packageDirectory } from '../src/system/package-files.js'

/** The folder of the package that a bundled file is from; the innermost for nested packages. */
const PACKAGE_FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

/**
 * The licences of all packages whose code is bundled: a user's install does not bring these packages.
 *
 * @param copied folders of the packages in files that are copied
 * @throws Error if a package has no licence to copy
 */
export async function writeNotices(
  file: string,
  bundles: readonly Metafile[],
  copied: readonly string[],
): Promise<void> {
  const folders = new Set(copied)
  for (const { outputs } of bundles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
        const folder = PACKAGE_FOLDER.exec(input)?.[1]
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder)
      }
    }
  }
  const notices = await Promise.all([...folders].toSorted().map(readNotice))
  const intro = 'Parts of these packages are in the files of this folder.'
  await writeFile(file, `${[intro, ...notices].join(`\n\n${'-'.repeat(72)}\n\n`)}\n`)
}

async function readNotice(folder: string): Promise<string> {
  const directory = join(packageDirectory, folder)
  const manifest: Manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  const texts = (await readdir(directory)).filter((entry) => /^(?:licen[cs]e|notice)/i.test(entry)).toSorted()
  const copied = await Promise.all(texts.map((entry) => readFile(join(directory, entry), 'utf8')))
  const licence = copied.length > 0 ? copied.join('\n\n').trim() : await statedLicence(manifest)
  return `${manifest.name} ${manifest.version} (${nameOfLicence(manifest)})\n\n${licence}`
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** As it was written until 2014. */
  readonly licenses?: readonly { readonly type: string }[]
  readonly author?: string | { readonly name: string }
}

function nameOfLicence({ name, license, licenses = [] }: Manifest): string {
  const named = license ?? licenses.map(({ type }) => type).join(' or ')
  if (named === '') throw new Error(`${name} is bundled, but does not name its licence.`)
  return named
}

/** Some packages only state MIT: our own licence has the same words. */
async function statedLicence(manifest: Manifest): Promise<string> {
  const { name, author } = manifest
  if (nameOfLicence(manifest) === 'Apache-2.0') return 'Under the Apache License 2.0. Its text is above.'
  if (nameOfLicence(manifest) !== 'MIT') throw new Error(`${name} is bundled, but has no licence file to copy.`)
  const own = await readFile(join(packageDirectory, 'LICENSE'), 'utf8')
  const owner = typeof author === 'object' ? author.name : (author ?? `the authors of ${name}`)
  return own.replace(/^Copyright .*$/m, `Copyright (c) ${owner}`).trim()
}
