import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { packageDirectory } from '../src/system/package-files.js'
import { FOR_BROWSERS } from './build-browser.js'
import { SCALAR_FILE } from './scalar.js'

const web = join(packageDirectory, 'src/web')

/** `light-dark()` and `:has()` need them. */
const PAGE_TARGETS = ['chrome123', 'firefox121', 'safari17.5']

/** The dashboard and the docs page, compressed: no request to `serve` waits for that. */
export async function buildPages(folder: string): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const { metafile, outputFiles } = await build({
    ...FOR_BROWSERS,
    target: PAGE_TARGETS,
    outdir: folder,
    entryPoints: { dashboard: join(web, 'dashboard/main.tsx'), docs: join(web, 'docs/main.ts') },
    plugins: [withoutPositions],
    write: false,
  })
  const copied = {
    'dashboard.html': join(web, 'dashboard/index.html'),
    'docs.html': join(web, 'docs/index.html'),
    'icon.svg': join(web, 'icon.svg'),
    'scalar.js': join(packageDirectory, SCALAR_FILE),
  }
  await Promise.all([
    ...outputFiles.map(({ path, contents }) => compress(path, contents)),
    ...Object.entries(copied).map(async ([name, file]) => compress(join(folder, name), await readFile(file))),
  ])
  return metafile
}

async function compress(file: string, content: Uint8Array): Promise<void> {
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
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
