import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-files.js'
import { BIN, runBuilt } from './built.js'

/** A file that blocks or never ends must not be opened. */
const KINDS = {
  FIFO: (path: string) => void execFileSync('mkfifo', [path]),
  folder: (path: string) => void mkdirSync(path),
  device: (path: string) => symlinkSync('/dev/zero', path),
}

async function run(cwd: string, line: string, env = {}) {
  const { code, err } = await runBuilt(line.split(' '), { cwd, env: { XDG_CONFIG_HOME: join(cwd, 'config'), ...env } })
  return { code, lines: err.trim().split('\n') }
}

const SERVE = 'serve --port 0 --log silent'
const CALL = 'call listPets --base-url http://127.0.0.1:9/v1'
const TRUE = `exec --report report.txt -- ${process.execPath} -e 0`

/** Where the file is, from the working directory, and who is to open it. */
const READERS: readonly (readonly [what: string, at: string, line: string])[] = [
  ['the store', 'store.json', `${SERVE} --store store.json`],
  ['the journal', 'store.json.journal', `${SERVE} --store store.json`],
  ['the lock', 'store.json.lock', `${SERVE} --store store.json`],
  ['a fixture', 'seeds/pets.json', `${SERVE} --in-memory --fixtures seeds`],
  ['the contract', 'spec.yaml', `${SERVE} --in-memory --spec spec.yaml`],
  ['the config file', 'petstore-sandbox.yaml', SERVE],
  ['a scenario', 'scenario.yaml', `${SERVE} --in-memory --scenario ./scenario.yaml`],
  ["the contract of a client's", 'spec.yaml', `${CALL} --spec spec.yaml`],
  ['a body', 'pet.json', 'call createPet --body @pet.json --base-url http://127.0.0.1:9/v1'],
  ['a key', 'key.txt', `${CALL} --api-key-file key.txt`],
  ['the targets', 'config/petstore-sandbox/config.yaml', 'target list'],
  ['a control token', 'token.txt', 'control status --token-file token.txt'],
  ['a scenario to be applied', 'scenario.yaml', 'control scenario ./scenario.yaml'],
  ['a report', 'report.txt', TRUE],
]

/** A start takes a while where both processors are busy; a file that is waited for takes for ever. */
const PATIENCE_MS = 30_000

describe.skipIf(process.platform === 'win32')('a path that is not a regular file', { timeout: PATIENCE_MS }, () => {
  // A FIFO shows that a reader goes through regular-file.ts; the other kinds are the same for all of them.
  const cases = READERS.flatMap(([what, ...reader]) =>
    Object.entries(KINDS)
      .filter(([kind]) => kind === 'FIFO' || ['the store', 'the lock', 'the contract'].includes(what))
      .map(([kind, make]) => [what, kind, make, ...reader] as const),
  )
  it.each(cases)('is refused at once: %s, a %s', async (_what, kind, make, at, line) => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, at, '..'), { recursive: true })
    make(join(cwd, at))
    const { code, lines } = await run(cwd, line)
    expect(code).toBeGreaterThan(0)
    expect(lines.at(-1)).toContain(at.split('/').at(-1))
    // Only the lock is checked for a symbolic link.
    expect(lines.at(-1)).toMatch(new RegExp(`it is a (${kind}|symbolic link), not a file`))
  })

  it('is refused at once: a lock that is a link to nothing', async () => {
    const cwd = temporaryFolder()
    symlinkSync('nowhere', join(cwd, 'store.json.lock'))
    const { code, lines } = await run(cwd, `${SERVE} --store store.json`)
    expect(code).toBe(1)
    expect(lines).toEqual([expect.stringMatching(/^STORE_UNWRITABLE: .*store\.json\.lock" \(it is a symbolic link/)])
  })

  it.skipIf(process.platform !== 'linux').each([
    [`${SERVE} --store /proc/nowhere/deep/store.json`, {}],
    ['target set mine --base-url http://127.0.0.1:9/v1', { XDG_CONFIG_HOME: '/proc/nowhere' }],
    [TRUE.replace('report.txt', '/proc/nowhere/report.txt'), {}],
  ])('is refused at once, in a folder that /proc does not let us make: %s', async (line, env) => {
    const ended = await run(temporaryFolder(), line, env)
    expect(ended.code).toBe(1)
    expect(ended.lines.at(-1)).toContain('/proc/nowhere')
  })

  it.each([
    ['a key', 'call listPets --dry-run --api-key-file <(echo sandbox)'],
    ['a key on standard input', 'echo sandbox | call listPets --dry-run --api-key-file /dev/stdin'],
    ['a body', `call createPet --dry-run --body @<(echo '{"name":"Rex","categoryId":1}')`],
  ])('reads a pipe passed by the shell: %s', (_what, line) => {
    const script = line.replace('call', `"${process.execPath}" "${BIN}" call`)
    expect(String(execFileSync('bash', ['-c', script], { cwd: temporaryFolder() }))).toContain('/pets')
  })

  it('ignores a locator that is a FIFO', async () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, '.petstore-sandbox'))
    KINDS.FIFO(join(cwd, '.petstore-sandbox/run.json'))
    expect((await run(cwd, 'call listPets --dry-run')).code).toBe(0)
  })
})
