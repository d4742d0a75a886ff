import { existsSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { configSchemaFile, packageDirectory } from '../../system/package-files.js'

/**
 * Where an editor finds the JSON Schema of a config file: in the package that is installed for
 * its folder, so that the path is good for everybody with the project; else in this one.
 *
 * @param folder of the config file
 * @returns a relative path, or an address: whoever reads it stops at a space
 */
export function schemaFor(folder: string): string {
  const inPackage = relative(packageDirectory, configSchemaFile)
  for (let above = folder; ; above = dirname(above)) {
    const installed = join(above, 'node_modules/petstore-sandbox', inPackage)
    if (existsSync(installed))
      return relative(folder, installed)
        .split(sep)
        .join('/')
        .replace(/^(?!\.)/, './')
    if (above === dirname(above)) return pathToFileURL(configSchemaFile).href
  }
}
