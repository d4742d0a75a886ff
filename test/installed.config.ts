import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineConfig, type Plugin } from 'vitest/config'
import { packageDirectory } from '../src/system/package-files.js'
import { project } from './projects.js'

/** The folder of an installed package; the gate sets it. */
const INSTALLED = process.env.INSTALLED_PACKAGE ?? packageDirectory

/** Modules that these tests are given from the installed package, in place of the sources, by a function of each. */
const DOORS: Readonly<Record<string, string>> = {
  'src/start/sandbox.ts': 'runSandbox',
  'src/start/compose.ts': 'openSandboxCore',
  'src/cli/run-cli.ts': 'runCli',
  'src/openapi/load-contract.ts': 'loadContract',
  'src/contract/prism.ts': 'openPrism',
}

const INDEX = 'src/index.ts'

/**
 * What needs the bundled packages (contracts, --strict, verify), tested on an
 * installed package, which has nothing but its bundle.
 *
 * A test that mocks modules of the sources cannot be among these.
 */
export default defineConfig({
  plugins: [fromInstalled(join(INSTALLED, 'dist'))],
  test: {
    ...project('integration'),
    name: 'installed',
    include: [
      'test/cli/verify.test.ts',
      'test/client/verify.integration.test.ts',
      'test/contract/{prism,bounds,sendable.integration}.test.ts',
      'test/openapi/load-contract.test.ts',
      'test/service/{fuller-contract,mocked-operations.integration,served-pets}.test.ts',
    ],
    server: { deps: { external: [/\/dist\/[^/]+\.js$/] } },
  },
})

/** A module is in the file that has its function; what only passes it on does not declare it. */
function fromInstalled(dist: string): Plugin {
  const files = readdirSync(dist).filter((name) => name.endsWith('.js') && !name.startsWith('browser'))
  const texts = new Map(files.map((name) => [name, readFileSync(join(dist, name), 'utf8')]))
  const fileOf = (source: string) =>
    source === INDEX ? 'index.js' : files.find((name) => texts.get(name)?.includes(`function ${DOORS[source]}(`))
  return {
    name: 'from-installed',
    enforce: 'pre',
    async resolveId(specifier, importer) {
      if (!specifier.startsWith('.') || importer?.startsWith(join(packageDirectory, 'test')) !== true) return undefined
      const found = await this.resolve(specifier, importer, { skipSelf: true })
      const source = relative(packageDirectory, found?.id ?? '')
      return source === INDEX || Object.hasOwn(DOORS, source) ? `\0installed:${source}` : undefined
    },
    load(id) {
      if (!id.startsWith('\0installed:')) return undefined
      const file = fileOf(id.slice('\0installed:'.length))
      if (file === undefined) throw new Error(`${dist} has no ${id}.`)
      return `export * from ${JSON.stringify(pathToFileURL(join(dist, file)).href)}`
    },
  }
}
