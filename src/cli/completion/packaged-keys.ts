import { join } from 'node:path'
import { fixturesDirectory } from '../../system/package-files.js'
import { readRegularFile } from '../../system/regular-file.js'

/** The keys that come with the package. */
export function packagedKeys(): readonly string[] {
  const keys: readonly { readonly key: string }[] = JSON.parse(
    readRegularFile(join(fixturesDirectory, 'keys.json')).toString(),
  )
  return keys.map(({ key }) => key)
}
