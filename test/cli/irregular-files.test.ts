import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** A file that blocks or never ends must not be opened. */
const KINDS = {
  FIFO: (path: string) => void execFileSync('mkfifo', [path]),
  folder: (path: string) => void mkdirSync(path),
  device: (path: string) => symlinkSync('/dev/zero', path),
}

async function run(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(packageDirectory, 'bin/petstore-sandbox.js'), ...args], {
    cwd,
    env: { ...process.env, XDG_CONFIG_HOME: join(cwd, 'config'), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  return { code, lines: said.trim().split('\n') }
}

const SERVE = ['serve', '--port', '0', '--log', 'silent']
const CALL = ['call', 'listPets', '--base-url', 'http://127.0.0.1:9/v1']

/** Where the file is, from the working directory, and who is to open it. */
const READERS: Readonly<Record<string, { readonly at: string; readonly args: readonly string[] }>> = {
  'the store': { at: 'store.json', args: [...SERVE, '--store', 'store.json'] },
  'the journal': { at: 'store.json.journal', args: [...SERVE, '--store', 'store.json'] },
  'the lock': { at: 'store.json.lock', args: [...SERVE, '--store', 'store.json'] },
  'a fixture': { at: 'seeds/pets.json', args: [...SERVE, '--in-memory', '--fixtures', 'seeds'] },
  'the contract': { at: 'spec.yaml', args: [...SERVE, '--in-memory', '--spec', 'spec.yaml'] },
  'the config file': { at: 'petstore-sandbox.yaml', args: SERVE },
  'a scenario': { at: 'scenario.yaml', args: [...SERVE, '--in-memory', '--scenario', './scenario.yaml'] },
  "the contract of a client's": { at: 'spec.yaml', args: [...CALL, '--spec', 'spec.yaml'] },
  'a body': {
    at: 'pet.json',
    args: ['call', 'createPet', '--body', '@pet.json', '--base-url', 'http://127.0.0.1:9/v1'],
  },
  'a key': { at: 'key.txt', args: [...CALL, '--api-key-file', 'key.txt'] },
  'the targets': { at: 'config/petstore-sandbox/config.yaml', args: ['target', 'list'] },
  'a control token': { at: 'token.txt', args: ['control', 'status', '--token-file', 'token.txt'] },
  'a scenario to be applied': { at: 'scenario.yaml', args: ['control', 'scenario', './scenario.yaml'] },
  'a report': { at: 'report.txt', args: ['exec', '--report', 'report.txt', '--', process.execPath, '-e', ''] },
}

/** A start takes a while where both processors are busy; a file that is waited for takes for ever. */
const PATIENCE_MS = 30_000

describe.skipIf(process.platform === 'win32')('a path that is not a regular file', { timeout: PATIENCE_MS }, () => {
  // A FIFO shows that a reader goes through regular-file.ts; the other kinds are the same for all of them.
  const cases = Object.entries(READERS).flatMap(([what, reader]) =>
    Object.entries(KINDS)
      .filter(([kind]) => kind === 'FIFO' || ['the store', 'the lock', 'the contract'].includes(what))
      .map(([kind, make]) => ({ what, kind, make, ...reader })),
  )
  it.each(cases)('is refused at once: $what, a $kind', async ({ kind, make, at, args }) => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, at, '..'), { recursive: true })
    make(join(cwd, at))
    const { code, lines } = await run(cwd, args)
    expect(code).toBeGreaterThan(0)
    expect(lines.at(-1)).toContain(at.split('/').at(-1))
    // Only the lock is checked for a symbolic link.
    expect(lines.at(-1)).toMatch(new RegExp(`it is a (${kind}|symbolic link), not a file`))
  })

  it('is refused at once: a lock that is a link to nothing', async () => {
    const cwd = temporaryFolder()
    symlinkSync('nowhere', join(cwd, 'store.json.lock'))
    const { code, lines } = await run(cwd, [...SERVE, '--store', 'store.json'])
    expect(code).toBe(1)
    expect(lines).toEqual([expect.stringMatching(/^STORE_UNWRITABLE: .*store\.json\.lock" \(it is a symbolic link/)])
  })

  it.skipIf(process.platform !== 'linux').each([
    ['the store', [...SERVE, '--store', '/proc/nowhere/deep/store.json'], {}],
    [
      'the targets',
      ['target', 'set', 'mine', '--base-url', 'http://127.0.0.1:9/v1'],
      { XDG_CONFIG_HOME: '/proc/nowhere' },
    ],
    ['a report', ['exec', '--report', '/proc/nowhere/report.txt', '--', process.execPath, '-e', ''], {}],
  ])('is refused at once: %s in a folder that /proc does not let us make', async (_what, args, env) => {
    const ended = await run(temporaryFolder(), args, env)
    expect(ended.code).toBe(1)
    expect(ended.lines.at(-1)).toContain('/proc/nowhere')
  })

  it.each([
    ['a key', 'call listPets --dry-run --api-key-file <(echo sandbox)'],
    ['a key on standard input', 'echo sandbox | call listPets --dry-run --api-key-file /dev/stdin'],
    ['a body', `call createPet --dry-run --body @<(echo '{"name":"Rex","categoryId":1}')`],
  ])('reads a pipe passed by the shell: %s', (_what, line) => {
    const program = join(packageDirectory, 'bin/petstore-sandbox.js')
    const script = line.replace('call', `"${process.execPath}" "${program}" call`)
    expect(String(execFileSync('bash', ['-c', script], { cwd: temporaryFolder() }))).toContain('/pets')
  })

  it('ignores a locator that is a FIFO', async () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, '.petstore-sandbox'))
    KINDS.FIFO(join(cwd, '.petstore-sandbox/run.json'))
    writeFileSync(join(cwd, 'key.txt'), 'sandbox')
    const { code } = await run(cwd, ['call', 'listPets', '--dry-run'])
    expect(code).toBe(0)
  })
})
