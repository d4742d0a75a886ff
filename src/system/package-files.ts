import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The package's folder: the nearest one above this file that holds a manifest, from src/ as well as bundled into dist/. */
export const packageDirectory = fileURLToPath(nearestPackage(new URL('./', import.meta.url)))

export const fixturesDirectory = `${packageDirectory}fixtures`
export const openapiFile = `${packageDirectory}openapi.yaml`
/** The JSON Schema of the config file, as built. */
export const configSchemaFile = `${packageDirectory}dist/petstore-sandbox.schema.json`
/** The playground's site, as built. */
export const playgroundDirectory = `${packageDirectory}dist/playground`
/** The dashboard and the docs page, as built; the playground has them, too. */
export const pagesDirectory = `${playgroundDirectory}/pages`

export const packageVersion: string = readVersion()

function readVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(packageText('package.json'))
  return version
}

/** The text of one of the package's own files. @param file its path in the package: `openapi.yaml` */
export function packageText(file: string): string {
  return readFileSync(packageDirectory + file, 'utf8')
}

function nearestPackage(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : nearestPackage(new URL('../', folder))
}
