import { join } from 'node:path'
import { packageDirectory } from '../../system/package-files.js'
import { readRegularFile } from '../../system/regular-file.js'

/** Shells that completion is there for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Each under the name that its shell looks for. */
const FILES: Readonly<Record<Shell, string>> = {
  bash: 'petstore-sandbox.bash',
  zsh: '_petstore-sandbox',
  fish: 'petstore-sandbox.fish',
}

/** Where the build puts the scripts that lie in scripts/ beside this file. */
const DIRECTORY = join(packageDirectory, 'dist', 'completion')

/** What a shell is to run. */
export function readScript(shell: Shell): string {
  return readRegularFile(join(DIRECTORY, FILES[shell])).toString()
}
