import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The package's folder. This file lies one level below it, in src/ as well as bundled into dist/. */
export const packageDirectory = fileURLToPath(new URL('../', import.meta.url))

export const fixturesDirectory = `${packageDirectory}fixtures`
export const openapiFile = `${packageDirectory}openapi.yaml`
/** The dashboard and the docs page, as built. */
export const pagesDirectory = `${packageDirectory}dist/web`

export const packageVersion: string = readVersion()

function readVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(`${packageDirectory}package.json`, 'utf8'))
  return version
}
