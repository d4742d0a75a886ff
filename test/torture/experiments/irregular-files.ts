import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Experiment, Trial } from '../trial.js'

const KINDS = {
  FIFO: (path: string) => void execFileSync('mkfifo', [path]),
  folder: (path: string) => mkdirSync(path),
  device: (path: string) => symlinkSync('/dev/zero', path),
  'link to nothing': (path: string) => symlinkSync('nowhere', path),
}

/** Files of a sandbox, from its folder, and the flags by which it comes to them. */
const FILES: readonly (readonly [string, readonly string[]])[] = [
  ['.petstore-sandbox/store.json', []],
  ['.petstore-sandbox/store.json.journal', []],
  ['.petstore-sandbox/store.json.lock', []],
  ['.petstore-sandbox/store.json.next', []],
  ['seeds/keys.json', ['--fixtures', 'seeds']],
  ['spec.yaml', ['--spec', 'spec.yaml']],
  ['petstore-sandbox.yaml', []],
  ['scenario.yaml', ['--scenario', './scenario.yaml']],
]

/** So long a start may take until it serves or has ended. */
const PATIENCE_MS = 20_000

/** FIFOs, folders, devices and broken links where files should be: each start serves, or is refused in one line, but never waits. */
export const irregularFiles: Experiment = {
  counts: 'starts on files that are none',
  async run(trial) {
    const all = FILES.flatMap(([at, flags]) => Object.entries(KINDS).map(([kind, make]) => ({ at, flags, kind, make })))
    const cases = trial.isShort ? Array.from({ length: 6 }, () => trial.oneOf(all)) : all
    for (const { at, flags, kind, make } of cases) {
      const folder = trial.folder()
      mkdirSync(join(folder, at, '..'), { recursive: true })
      make(join(folder, at))
      await start(trial, folder, flags, `${at}, a ${kind}`)
    }
    if (process.platform === 'linux') {
      await start(trial, trial.folder(), ['--store', '/proc/nowhere/deep/store.json'], 'a store in /proc')
    }
  },
}

async function start(trial: Trial, folder: string, flags: readonly string[], what: string): Promise<void> {
  const server = trial.begin(folder, flags)
  const patience = setTimeout(() => server.child.kill('SIGKILL'), PATIENCE_MS)
  const isReady = await server.ready.then(
    () => true,
    () => false,
  )
  clearTimeout(patience)
  if (isReady) {
    trial.survive()
    await server.kill()
    return
  }
  const { code, signal } = await server.end()
  const isClear = (code === 1 || code === 2) && server.lines.length === 1 && !server.said.includes('INTERNAL')
  trial.check(isClear, () => `${what}: ${code ?? signal}: ${server.said}`)
}
