import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { packageDirectory } from '../../src/system/package-files.js'

/** Generates missing files, as in a fresh clone. */
export function setup(): void {
  const files = ['contract/generated/types.ts', 'system/generated/version.ts']
  if (files.every((file) => existsSync(`${packageDirectory}src/${file}`))) return
  execFileSync('npm', ['run', 'generate', '--silent'], { cwd: packageDirectory, stdio: 'inherit', shell: true })
}
