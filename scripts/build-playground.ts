import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { PAGE_FILES, PAGE_POLICY } from '../src/control/pages.js'
import type { Site, SiteFile } from '../src/playground/site-files.js'
import { packageDirectory } from '../src/system/package-files.js'
import { browserTwins, FOR_BROWSERS } from './build-browser.js'
import { buildPages, controlAt } from './build-pages.js'

const sources = join(packageDirectory, 'src/web/playground')
/** Folder of the control plane's pages in the site; `serve` also sends them from there. */
const PAGES = 'pages'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A static site for any web host and path. Its service worker is the sandbox. @returns the metafiles */
export async function buildPlayground(folder: string): Promise<Metafile[]> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'assets'), { recursive: true })
  const pages = await buildPages(join(folder, PAGES))
  const { metafile } = await build({
    ...FOR_BROWSERS,
    entryPoints: { playground: join(sources, 'main.tsx'), starting: join(sources, 'starting.ts') },
    outdir: join(folder, 'assets'),
    format: 'esm',
    define: await controlAt('./__sandbox'),
  })
  await Promise.all([
    copyFile(join(packageDirectory, 'src/web/icon.svg'), join(folder, 'assets/icon.svg')),
    guardedPage('index.html').then((page) => writeFile(join(folder, 'index.html'), page)),
    writeStartingPages(folder),
    // GitHub Pages leaves out folders that begin with "_" otherwise.
    writeFile(join(folder, '.nojekyll'), ''),
  ])
  const worker = await build({
    ...FOR_BROWSERS,
    entryPoints: { sw: join(packageDirectory, 'src/playground/worker.ts') },
    outdir: folder,
    format: 'iife',
    plugins: [browserTwins, withoutStrict],
    define: { SITE: JSON.stringify(await siteIn(folder)) },
  })
  return [pages, metafile, worker.metafile]
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
  const page = await readFile(join(sources, name), 'utf8')
  const policy = PAGE_POLICY.replace(/; frame-ancestors [^;]*/, '')
  return page.replace('<head>', `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`)
}

/** The worker's files by address. */
async function siteIn(folder: string): Promise<Site> {
  const assets = await readdir(join(folder, 'assets'))
  const own = await Promise.all(
    ['', ...assets.map((name) => `assets/${name}`)].map(
      async (address) => [address, await fileIn(folder, address || 'index.html')] as const,
    ),
  )
  const pages = await Promise.all(
    Object.entries(PAGE_FILES).map(
      async ([path, { file }]) => [`__sandbox${path}`, await fileIn(folder, `${PAGES}/${file}`)] as const,
    ),
  )
  const files = Object.fromEntries([...own, ...pages])
  return { version: digest(JSON.stringify(files), 'hex').slice(0, 16), files }
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

/** A playground does not check its responses, so it leaves out the schema compiler. */
const withoutStrict: Plugin = {
  name: 'without-strict',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/response-rules\.js$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: 'response-rules', namespace: 'none' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'none' }, () => ({
      contents: "export function readResponseRules() { throw new Error('There is no --strict here.') }",
    }))
  },
}
