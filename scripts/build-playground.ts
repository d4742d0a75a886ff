import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { PAGE_FILES, PAGE_POLICY } from '../src/control/pages.js'
import type { Site, SiteFile } from '../src/playground/site-files.js'
import { packageDirectory } from '../src/system/package-files.js'
import { browserTwins, FOR_BROWSERS } from './build-browser.js'
import { verbRoutes } from './verb-routes.js'

const web = join(packageDirectory, 'src/web')
/** Folder of the site; `serve` also sends the dashboard and the docs page from there. */
const ASSETS = 'assets'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** `light-dark()` and `:has()` need them. */
const PAGE_TARGETS = ['chrome123', 'firefox121', 'safari17.5']

/** A static site for any web host and path. Its service worker is the sandbox. @returns the metafiles */
export async function buildPlayground(folder: string): Promise<Metafile[]> {
  await rm(folder, { recursive: true, force: true })
  const assets = join(folder, ASSETS)
  await mkdir(assets, { recursive: true })
  const forPages = { ...FOR_BROWSERS, target: PAGE_TARGETS, outdir: assets }
  const [pages, starting] = await Promise.all([
    build({
      ...forPages,
      entryPoints: {
        dashboard: join(web, 'dashboard/main.tsx'),
        docs: join(web, 'docs/main.tsx'),
        playground: join(web, 'playground/main.tsx'),
        'shared-style': join(web, 'style/shared.css'),
      },
      splitting: true,
      // Without a hash: esbuild fails if the pages share more than one file. See src/web/shared.ts.
      chunkNames: 'shared',
      define: await verbRoutes(),
      plugins: [withoutPositions],
    }),
    build({ ...forPages, entryPoints: { starting: join(web, 'playground/starting.ts') } }),
    copyFile(join(web, 'icon.svg'), join(assets, 'icon.svg')),
    copyFile(join(web, 'dashboard/index.html'), join(assets, 'dashboard.html')),
    copyFile(join(web, 'docs/index.html'), join(assets, 'docs.html')),
    guardedPage('index.html').then((page) => writeFile(join(folder, 'index.html'), page)),
    writeStartingPages(folder),
    // GitHub Pages leaves out folders that begin with "_" otherwise.
    writeFile(join(folder, '.nojekyll'), ''),
  ])
  await compressPages(assets)
  const worker = await build({
    ...FOR_BROWSERS,
    entryPoints: { sw: join(packageDirectory, 'src/playground/worker.ts') },
    outdir: folder,
    format: 'iife',
    plugins: [browserTwins, leftOut],
    define: { SITE: JSON.stringify(await siteIn(folder)) },
  })
  return [pages.metafile, starting.metafile, worker.metafile]
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

/** Placeholder pages at the sandbox's own addresses, shown before the service worker runs. */
async function writeStartingPages(folder: string): Promise<void> {
  const page = await guardedPage('starting.html')
  await mkdir(join(folder, '__sandbox/docs'), { recursive: true })
  await writeFile(join(folder, '__sandbox/index.html'), page)
  await writeFile(join(folder, '__sandbox/docs/index.html'), page.replaceAll('"../', '"../../'))
}

/** The policy is in the page because a web host may send none. Only a header can restrict framing. */
async function guardedPage(name: string): Promise<string> {
  const page = await readFile(join(web, 'playground', name), 'utf8')
  const policy = PAGE_POLICY.replace(/; frame-ancestors [^;]*/, '')
  return page.replace('<head>', `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`)
}

/** The worker's files by address. */
async function siteIn(folder: string): Promise<Site> {
  const served = Object.entries(PAGE_FILES).map(([path, { file }]) => [`__sandbox${path}`, file] as const)
  const own = (await readdir(join(folder, ASSETS))).filter((name) => !/\.(?:gz|html)$/.test(name))
  const all = [
    ['', 'index.html'] as const,
    ...own.map((name) => [`${ASSETS}/${name}`, `${ASSETS}/${name}`] as const),
    ...served.map(([address, file]) => [address, `${ASSETS}/${file}`] as const),
  ]
  const files = await Promise.all(all.map(async ([address, file]) => [address, await fileIn(folder, file)] as const))
  return { version: digest(JSON.stringify(files), 'hex').slice(0, 16), files: Object.fromEntries(files) }
}

async function fileIn(folder: string, file: string): Promise<SiteFile> {
  const integrity = `sha256-${digest(await readFile(join(folder, file)), 'base64')}`
  const contentType = TYPES[extname(file)]
  if (contentType === undefined) throw new Error(`"${file}" has no media type.`)
  return { file, integrity, contentType, ...(extname(file) === '.html' ? { policy: PAGE_POLICY } : {}) }
}

function digest(content: string | Uint8Array, form: 'hex' | 'base64'): string {
  return createHash('sha256').update(content).digest(form)
}

/** A playground does not check its responses, and does not describe its control plane in full. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'response-rules': "export function readResponseRules() { throw new Error('There is no --strict here.') }",
  description: `export const description = {
    openapi: '3.1.0',
    info: {
      title: 'Control plane of petstore-sandbox',
      version: '0',
      description: 'The playground leaves the paths out. See /__sandbox/control.openapi.yaml of petstore-sandbox serve.',
    },
    paths: {},
  }`,
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

const leftOut: Plugin = {
  name: 'left-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/(?:response-rules|description)\.js$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: path.replace(/^.*\/|\.js$/g, ''), namespace: 'left-out' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({ contents: LEFT_OUT[path] ?? '' }))
  },
}
