import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixturesDirectory } from '../../package-files.js'

/** The keys that come with the package. */
export function packagedKeys(): readonly string[] {
  const keys: readonly { readonly key: string }[] = JSON.parse(
    readFileSync(join(fixturesDirectory, 'keys.json'), 'utf8'),
  )
  return keys.map(({ key }) => key)
}
