import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { PAGE_FILES } from '../src/control/pages.js'
import { packageDirectory } from '../src/system/package-files.js'
import { FOR_BROWSERS } from './build-browser.js'
import { verbRoutes } from './verb-routes.js'

const web = join(packageDirectory, 'src/web')

/** `light-dark()` and `:has()` need them. */
const PAGE_TARGETS = ['chrome123', 'firefox121', 'safari17.5']

/** The dashboard and the docs page. */
export async function buildPages(folder: string): Promise<Metafile> {
  await mkdir(folder, { recursive: true })
  const [{ metafile }] = await Promise.all([
    build({
      ...FOR_BROWSERS,
      target: PAGE_TARGETS,
      outdir: folder,
      entryPoints: {
        dashboard: join(web, 'dashboard/main.tsx'),
        docs: join(web, 'docs/main.tsx'),
        'shared-style': join(web, 'style/shared.css'),
      },
      splitting: true,
      // Without a hash: esbuild fails if the pages share more than one file. See src/web/shared.ts.
      chunkNames: 'shared',
      define: await verbRoutes(),
      plugins: [withoutPositions],
    }),
    copyFile(join(web, 'icon.svg'), join(folder, 'icon.svg')),
    copyFile(join(web, 'dashboard/index.html'), join(folder, 'dashboard.html')),
    copyFile(join(web, 'docs/index.html'), join(folder, 'docs.html')),
  ])
  await compressPages(folder)
  return metafile
}

/** So that no request to `serve` waits for it. */
async function compressPages(folder: string): Promise<void> {
  await Promise.all(
    Object.values(PAGE_FILES).map(async ({ file }) => {
      const content = await readFile(join(folder, file))
      await writeFile(join(folder, `${file}.gz`), await promisify(gzip)(content, { level: 9 }))
    }),
  )
}

/** No page shows where JSON is invalid. */
const withoutPositions: Plugin = {
  name: 'without-positions',
  setup({ onLoad }) {
    onLoad({ filter: /\/contract\/json-error\.ts$/ }, () => ({
      contents: 'export const findJsonError = () => undefined',
    }))
  },
}
