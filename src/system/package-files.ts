import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The nearest folder with a manifest, both from src/ and bundled into dist/. */
export const packageDirectory = fileURLToPath(nearestPackage(new URL('./', import.meta.url)))

export const fixturesDirectory = `${packageDirectory}fixtures`
export const openapiFile = `${packageDirectory}openapi.yaml`
export const configSchemaFile = `${packageDirectory}dist/petstore-sandbox.schema.json`
export const pagesDirectory = `${packageDirectory}dist/pages`

export const packageVersion: string = readVersion()

function readVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(packageText('package.json'))
  return version
}

export function packageText(file: string): string {
  return readFileSync(packageDirectory + file, 'utf8')
}

function nearestPackage(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : nearestPackage(new URL('../', folder))
}
