import { copyFile, cp, mkdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import type { VerbRoute } from '../src/control/verb-request.js'
import { packageDirectory } from '../src/system/package-files.js'

const web = join(packageDirectory, 'src/web')

/**
 * Builds the pages into a folder: each one's HTML, script and style, and
 * Swagger UI's own two files with their licences. The dashboard is handed the
 * table of verbs, so that its buttons are the verbs of everybody else.
 *
 * Swagger UI is copied, not depended on: its package is 12 MB and runs a
 * script at install time, which no user of ours should get.
 *
 * @returns what is in the scripts
 */
export async function buildPages(folder: string): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  // Not before the contract has been generated, which the verbs import.
  const { VERBS } = await import('../src/control/verbs.js')
  const routes = Object.entries<VerbRoute>(VERBS).map(([name, { method, path, body }]) => [
    name,
    { method, path, body },
  ])
  const require = createRequire(import.meta.url)
  const swagger = dirname(require.resolve('swagger-ui-dist/package.json'))
  const [{ metafile }] = await Promise.all([
    build({
      absWorkingDir: packageDirectory,
      entryPoints: { dashboard: join(web, 'dashboard/main.tsx'), docs: join(web, 'docs/main.ts') },
      outdir: folder,
      bundle: true,
      minify: true,
      format: 'esm',
      define: { VERB_ROUTES: JSON.stringify(Object.fromEntries(routes)) },
      target: ['chrome111', 'firefox114', 'safari16.4'],
      // All licences are in THIRD-PARTY-LICENSES.txt.
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
    }),
    copyFile(join(web, 'dashboard/index.html'), join(folder, 'dashboard.html')),
    copyFile(join(web, 'docs/index.html'), join(folder, 'docs.html')),
    copyFile(join(web, 'icon.svg'), join(folder, 'icon.svg')),
    copyFile(join(swagger, 'swagger-ui-bundle.js'), join(folder, 'swagger-ui.js')),
    copyFile(join(swagger, 'swagger-ui.css'), join(folder, 'swagger-ui.css')),
    cp(join(swagger, 'LICENSE'), join(folder, 'swagger-ui.LICENSE')),
    cp(join(swagger, 'NOTICE'), join(folder, 'swagger-ui.NOTICE')),
    cp(join(swagger, 'swagger-ui-bundle.js.LICENSE.txt'), join(folder, 'swagger-ui.js.LICENSE.txt')),
  ])
  return metafile
}
