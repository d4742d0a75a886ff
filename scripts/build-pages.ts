import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { packageDirectory } from '../src/system/package-files.js'
import { FOR_BROWSERS } from './build-browser.js'
import { verbRoutes } from './verb-routes.js'

const web = join(packageDirectory, 'src/web')

/** HTML, script and style of each page, also compressed, so that no request waits for that. @returns the metafiles */
export async function buildPages(folder: string): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const [{ metafile }] = await Promise.all([
    build({
      ...FOR_BROWSERS,
      entryPoints: { dashboard: join(web, 'dashboard/main.tsx'), docs: join(web, 'docs/main.tsx') },
      outdir: folder,
      format: 'esm',
      define: await controlAt('.'),
    }),
    copyFile(join(web, 'dashboard/index.html'), join(folder, 'dashboard.html')),
    copyFile(join(web, 'docs/index.html'), join(folder, 'docs.html')),
    copyFile(join(web, 'icon.svg'), join(folder, 'icon.svg')),
  ])
  await compressAll(folder)
  return metafile
}

/** The address at which a page calls verbs. @param address of the control plane, relative to the page */
export async function controlAt(address: string): Promise<Record<string, string>> {
  return { ...(await verbRoutes()), CONTROL_ADDRESS: JSON.stringify(address) }
}

async function compressAll(folder: string): Promise<void> {
  await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const file = join(folder, name)
      await writeFile(`${file}.gz`, await promisify(gzip)(await readFile(file), { level: 9 }))
    }),
  )
}
