import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readScript, SHELLS, splitLine } from '../../src/cli/completion.js'
import { COMMANDS } from '../../src/cli/run-cli.js'
import { VIOLATIONS, WARNINGS } from '../../src/conduct/conduct-view.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { allowedWords, isAllowed } from '../../src/options/allowed.js'
import { flagName } from '../../src/options/names.js'
import { OPTION_NAMES, optionRow } from '../../src/options/table.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { run } from './test-io.js'

/** The completions that the program prints for a shell. */
async function completed(line: string) {
  const { code, out, err } = await run(['completion', 'bash', '--line', `petstore-sandbox ${line}`])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const [paths, ...lines] = out.trimEnd().split('\n')
  return { paths, words: lines.map((text) => text.split('\t')[0]), lines }
}

const words = async (line: string) => (await completed(line)).words

describe('completion', () => {
  it('offers every command with its summary, and help', async () => {
    const { lines, paths } = await completed('')
    expect(lines.slice(0, -1)).toEqual(COMMANDS.map(({ name, summary }) => `${name}\t${summary}`))
    expect(lines.at(-1)).toMatch(/^help\t/)
    expect(paths).toBe(':none')
    expect(await words('help ser')).toEqual(['serve'])
  })

  it('offers every flag of serve', async () => {
    expect(await words('serve ')).toEqual(expect.arrayContaining(OPTION_NAMES.map(flagName)))
    expect(await words('serve --no-r')).toEqual(['--no-rate-limit', '--no-reason'])
  })

  it('offers a flag that was given again only if it may be repeated', async () => {
    expect(await words('serve --plan pro --fault hang --p')).not.toContain('--plan')
    expect(await words('serve --plan pro --fault hang --f')).toContain('--fault')
  })

  const worded = OPTION_NAMES.filter((name) => allowedWords(name).length > 0)
  it.each(worded)('offers the words that --%s takes, after a blank and after =', async (name) => {
    const plain = allowedWords(name).filter((word) => word !== '*')
    const offered = optionRow(name).reads === 'list' ? [] : plain
    expect(await words(`serve ${flagName(name)} `)).toEqual(offered)
    expect(await words(`serve ${flagName(name)}=`)).toEqual(offered.map((word) => `${flagName(name)}=${word}`))
    for (const word of plain) expect(isAllowed(name, word)).toBe(true)
  })

  it('offers each fault of each operation', async () => {
    const [first] = packagedContract().operations
    const faults = await words(`serve --fault ${first?.id}:`)
    expect(faults).toContain(`${first?.id}:hang`)
    for (const fault of faults) expect(isAllowed('fault', fault ?? '')).toBe(true)
  })

  it('offers the rules of conduct to exec --fail-on', async () => {
    const rules = ['violation', 'warning', 'no-traffic', 'drift', ...VIOLATIONS, ...WARNINGS]
    expect(await words('exec --fail-on ')).toEqual(rules)
    expect(await words('exec --fail-on=early')).toEqual(['--fail-on=early-retry', '--fail-on=early-retry-likely'])
  })

  it.each([
    ['serve --spec ', ':file'],
    ['serve --fixtures=', ':folder'],
    ['serve --plan ', ':none'],
  ])('asks for paths where a path stands: %s', async (line, paths) => expect((await completed(line)).paths).toBe(paths))

  it.each(['serve --nope ', 'serve --port 1 2 ', 'nope ', '"', 'serve "--pl', "serve 'x ", '\\'])(
    'accepts every line: %s',
    async (line) => expect((await completed(line)).paths).toMatch(/^:/),
  )

  it('reads lines as shells do', () => {
    expect(splitLine(`a "b c" 'd \\' e\\ f "g\\"h" `)).toEqual(['a', 'b c', 'd \\', 'e f', 'g"h', ''])
    expect(splitLine(' a  "b c')).toEqual(['a', 'b c'])
  })

  it('ignores variables before the command', async () => {
    const { out } = await run(['completion', 'zsh', '--line', 'A=1 B="x y" petstore-sandbox ser'])
    expect(out).toContain('serve\t')
  })
})

describe('completion from the tree of commands', () => {
  it.each([
    ['call listPets --status ', ['available', 'pending', 'sold']],
    ['call listPets --status=', ['available', 'pending', 'sold'].map((word) => `--status=${word}`)],
    ['control sunset ', ['auto', 'before', 'after', 'brownout']],
    ['control plan sandbox ', ['free', 'pro', 'business', 'enterprise']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['verify -o ', ['text', 'json', 'junit']],
    ['verify --output=', ['--output=text', '--output=json', '--output=junit']],
  ])('%s', async (line, expected) => expect(await words(line)).toEqual(expected))

  it('knows the keys that come with the fixtures', async () =>
    expect(await words('control plan ')).toEqual(expect.arrayContaining(['sandbox', 'sandbox-banned'])))

  it("leaves another program's command line to the shell's paths", async () => {
    for (const line of ['exec npx --re', 'exec -- '])
      expect(await completed(line)).toEqual({ paths: ':file', words: [], lines: [] })
    expect(await words('exec --re')).toContain('--report')
  })
})

/** A folder with the program in it, and paths to complete. */
function shellFolder() {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(packageDirectory, 'bin/petstore-sandbox.js'), join(folder, 'bin/petstore-sandbox'))
  mkdirSync(join(folder, 'seeds'))
  writeFileSync(join(folder, 'open api.yaml'), '')
  return { folder, env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder } }
}

const runs = (shell: string) => spawnSync(shell, ['--version']).status === 0

/** Lines up to the cursor, and what each shell is to offer. */
const LINES: readonly (readonly [string, string])[] = [
  ['petstore-sandbox serve --plan b', 'business'],
  ['petstore-sandbox serve --spec op', 'open api.yaml'],
]

/** Runs a script of a shell for one line. */
const SHELL_RUNS: Readonly<Record<string, (script: string, line: string) => readonly string[]>> = {
  bash: (script, line) => [
    '--norc',
    '-c',
    // As readline does it: COMP_WORDBREAKS and compopt are only there in a shell that completes.
    `compopt() { [[ $BASH_TOO_OLD != 1 ]]; }; COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'; ${script}
COMP_LINE=$1 COMP_POINT=\${#1}; _petstore_sandbox petstore-sandbox; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    line,
  ],
  zsh: (script, line) => [
    '-f',
    '-c',
    // Replaces the parts of Zsh's own system that show completions.
    `compdef() { :; }; _describe() { print -l -- "\${\${(P)4}[@]%%:*}"; }; _files() { print -l -- $PREFIX*; }
compset() { PREFIX=\${PREFIX#*=}; }; ${script}
words=(\${(s: :)1}) CURRENT=$#words PREFIX=$words[-1]; setopt globsubst; _petstore-sandbox`,
    'zsh',
    line,
  ],
  fish: (script, line) => ['--no-config', '-c', `${script}\ncomplete -C '${line}'`],
}

describe.each(SHELLS.filter(runs))('the script of %s, run by it', (shell) => {
  it.each(LINES)('%s', async (line, expected) => {
    const { folder, env } = shellFolder()
    const script = await readScript(shell)
    const out = execFileSync(shell, SHELL_RUNS[shell]?.(script, line) ?? [], { cwd: folder, env, encoding: 'utf8' })
    expect(out.split('\n').map((text) => text.split('\t')[0])).toContain(expected)
  })
})

describe('the script of bash', () => {
  /** What it offers for a line in a folder. */
  async function offers(line: string, { folder, env }: ReturnType<typeof shellFolder>) {
    const words = SHELL_RUNS.bash?.(await readScript('bash'), line) ?? []
    return execFileSync('bash', words, { cwd: folder, env, encoding: 'utf8' })
  }

  it.runIf(runs('bash')).each([
    ['petstore-sandbox serve --plan=p', 'pro'],
    ['petstore-sandbox serve --fault getPet:ha', 'hang'],
  ])('gives only what follows the last = or :, as bash takes words apart there: %s', async (line, expected) =>
    expect(await offers(line, shellFolder())).toBe(`${expected}\n`),
  )

  /** Names that a shell would run, or take apart, if they were inserted as they are. */
  const NAMES = ['$(touch bad)a.yaml', '`touch bad`b.yaml', 'c;touch bad;.yaml', 'd\' "e.yaml', 'f&g|h.yaml']

  it.runIf(runs('bash'))('quotes file names where Bash 3.2 would not (no compopt)', async () => {
    const { folder, env } = shellFolder()
    for (const name of NAMES) writeFileSync(join(folder, name), '')
    const old = { folder, env: { ...env, BASH_TOO_OLD: '1' } }
    const inserted = (await offers('petstore-sandbox serve --spec ', old)).trimEnd().split('\n')
    const read = execFileSync('bash', ['-c', `printf '%s\\n' ${inserted.join(' ')}`], { cwd: folder, encoding: 'utf8' })
    expect(read.trimEnd().split('\n')).toEqual(expect.arrayContaining(NAMES))
    expect(readdirSync(folder)).not.toContain('bad')
  })
})

it('completion prints the script of a shell, and refuses others', async () => {
  expect(await run('completion fish')).toMatchObject({ code: 0, out: await readScript('fish') })
  expect((await run('completion ksh')).code).toBe(2)
  expect((await run('completion')).code).toBe(2)
})
