import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { benchDirectory } from './directories.js'

/** Installs what the sandbox is measured beside, once. */
export function installPeers(): void {
  if (existsSync(join(benchDirectory, 'node_modules/.package-lock.json'))) return
  process.stderr.write('Installing the peers into test/bench/node_modules …\n')
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: benchDirectory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
