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
  'link to nothing': (path: string) => symlinkSync('nowhere', path),
}

async function run(cwd: string, line: string) {
  const { code, err } = await runBuilt(line.split(' '), { cwd, env: { XDG_CONFIG_HOME: join(cwd, 'config') } })
  return { code, lines: err.trim().split('\n') }
}

const SERVE = 'serve --port 0 --log silent'
const CALL = 'call listPets --base-url http://127.0.0.1:9/v1'

/** Each file, from the working directory, and a command that opens it. test/architecture.test.ts holds that all are opened in one place. */
const READERS: readonly (readonly [what: string, kind: keyof typeof KINDS, at: string, line: string])[] = [
  ['the store', 'FIFO', 'store.json', `${SERVE} --store store.json`],
  ['the journal', 'FIFO', 'store.json.journal', `${SERVE} --store store.json`],
  ['the lock', 'FIFO', 'store.json.lock', `${SERVE} --store store.json`],
  ['the lock', 'link to nothing', 'store.json.lock', `${SERVE} --store store.json`],
  ['a fixture', 'folder', 'seeds/pets.json', `${SERVE} --in-memory --fixtures seeds`],
  ['the contract', 'device', 'spec.yaml', `${SERVE} --in-memory --spec spec.yaml`],
  ['a key', 'FIFO', 'key.txt', `${CALL} --api-key-file key.txt`],
  ['a control token', 'folder', 'token.txt', 'control status --token-file token.txt'],
  ['a report', 'FIFO', 'report.txt', `exec --report report.txt -- ${process.execPath} -e 0`],
]

describe.skipIf(process.platform === 'win32')('a path that is not a regular file', () => {
  it.each(READERS)('is refused at once: %s, a %s', async (_what, kind, at, line) => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, at, '..'), { recursive: true })
    KINDS[kind](join(cwd, at))
    const { code, lines } = await run(cwd, line)
    expect(code).toBeGreaterThan(0)
    const found = kind === 'link to nothing' ? 'symbolic link' : kind
    expect(lines.at(-1)).toMatch(new RegExp(`${at.split('/').at(-1)}.*it is a ${found}, not a file`))
  })

  it.skipIf(process.platform !== 'linux')(
    'is refused at once, in a folder that /proc does not let us make',
    async () => {
      const ended = await run(temporaryFolder(), `${SERVE} --store /proc/nowhere/deep/store.json`)
      expect(ended.code).toBe(1)
      expect(ended.lines.at(-1)).toContain('/proc/nowhere')
    },
  )

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
