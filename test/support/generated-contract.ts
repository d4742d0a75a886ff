import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { packageDirectory } from '../../src/system/package-files.js'

/** Generates what derives from openapi.yaml where it is missing, as in a fresh clone. */
export function setup(): void {
  if (existsSync(`${packageDirectory}src/contract/generated/types.ts`)) return
  execFileSync('npm', ['run', 'generate', '--silent'], { cwd: packageDirectory, stdio: 'inherit', shell: true })
}
