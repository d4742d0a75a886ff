import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageDirectory } from '../src/system/package-files.js'

const FOLDER = 'node_modules/@scalar/api-reference'

/** The standalone build of Scalar, which the docs page loads. */
export const SCALAR_FILE = `${FOLDER}/dist/browser/standalone.js`

/** Bundled, but no longer installed with Scalar; with the package of the same author that has the same licence. */
const NOT_INSTALLED: Readonly<Record<string, string>> = { 'unist-util-find-after': 'unist-util-is' }

/** Folders of the packages that are in the standalone build, by its source map. */
export async function scalarPackages(): Promise<readonly string[]> {
  const { sources }: { readonly sources: readonly string[] } = JSON.parse(
    await readFile(join(packageDirectory, `${SCALAR_FILE}.map`), 'utf8'),
  )
  const names = sources.flatMap((source) => {
    const [, installed] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? []
    const [, ofScalar] = /^(?:\.\.\/)+([^/]+)\/dist\//.exec(source) ?? []
    return installed ?? (ofScalar === undefined ? [] : `@scalar/${ofScalar}`)
  })
  return [FOLDER, ...new Set(names.map((name) => `node_modules/${NOT_INSTALLED[name] ?? name}`))]
}
