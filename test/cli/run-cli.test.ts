import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/run-cli.js'
import { flagName } from '../../src/options/names.js'
import { OPTION_NAMES, optionRow } from '../../src/options/table.js'
import { packageVersion } from '../../src/system/package-files.js'
import { run, testIo } from './test-io.js'

describe('the command line', () => {
  it.each(['--version', '-V'])('prints its version: %s', async (flag) =>
    expect(await run(flag)).toEqual({ code: 0, out: `${packageVersion}\n`, err: '' }),
  )

  it.each(['--help', '-h', 'help'])('prints its help on stdout: %s', async (line) => {
    const { code, out, err } = await run(line)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    for (const { name, summary } of COMMANDS)
      expect(out).toContain(`  ${name}${' '.repeat(15 - name.length)}${summary}`)
    expect(out).toContain('Exit codes:')
  })

  it('prints its help on stderr without a command, as a usage error', async () =>
    expect(await run([])).toEqual({ code: 2, out: '', err: expect.stringContaining('Commands:') }))

  it.each([
    ['serv', "unknown command 'serv'; did you mean serve?", ''],
    ['help serv', "unknown command 'serv'; did you mean serve?", ''],
    ['help control clok', "unknown command 'clok'; did you mean clock?", ' control'],
    ['serve --prot 1', "unknown option '--prot'; did you mean --port?", ' serve'],
    ['control -p 4011 status', "unknown option '-p': name the sandbox with --url http://127.0.0.1:<port>.", ' control'],
    ['serve --port', "option '-p, --port <n>' argument missing.", ' serve'],
    ['serve now', "too many arguments for 'serve'. Expected 0 arguments but got 1.", ' serve'],
    [
      'completion ksh',
      "value 'ksh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.",
      ' completion',
    ],
    ['target use', "missing required argument 'name'.", ' target use'],
    ['--nope', "unknown option '--nope'.", ''],
  ])('refuses "%s" as a usage error', async (line, problem, command) => {
    const err = `USAGE: ${problem} See petstore-sandbox${command} --help.\n`
    expect(await run(line)).toEqual({ code: 2, out: '', err })
  })

  it('prints each invalid option on its own line, then a pointer to the help', async () =>
    expect((await run('serve --plan gold --port x')).err).toBe(
      'INVALID_OPTIONS: --plan "gold": must be free, pro, business or enterprise\n' +
        'INVALID_OPTIONS: --port "x": must be a whole number from 0 to 65535\n' +
        'See petstore-sandbox serve --help.\n',
    ))

  it.each([
    ['call listPets --timeout soon', /^INVALID_FLAG: .*\. See petstore-sandbox call listPets --help\.\n$/],
    ['exec --port x true', /^INVALID_OPTIONS: .*\. See petstore-sandbox exec --help\.\n$/],
    ['control storm start --rate 7', / See petstore-sandbox control storm start --help\.\n$/],
  ])('ends the error for "%s" with a pointer to the help', async (line, err) =>
    expect(await run(line)).toEqual({ code: 2, out: '', err: expect.stringMatching(err) }),
  )

  it('escapes control characters in usage errors', async () => {
    const io = testIo()
    writeFileSync(join(io.cwd, 'petstore-sandbox.yaml'), '"\\e[2Jplan": pro')
    expect((await run(['serve'], io)).err).toBe(
      'INVALID_OPTIONS: petstore-sandbox.yaml:1:1: \\u001b[2Jplan: unknown option. See petstore-sandbox serve --help.\n',
    )
  })

  it('shows a stack with --debug only', async () => {
    const shown = async (line: string, env = {}) => (await run(line, testIo({ env }))).err
    expect(await shown('serve --port x')).not.toContain('    at ')
    expect(await shown('serve --port x --debug')).toContain('    at ')
    expect(await shown('serve --port x', { PETSTORE_SANDBOX_DEBUG: '1' })).toContain('    at ')
  })
})

describe('the help of serve', () => {
  it('shows every option under its heading, with its default and the other ways to set it', async () => {
    const { out } = await run(['serve', '--help-all'])
    const text = out.replace(/\n {10,}/g, ' ')
    for (const name of OPTION_NAMES) {
      const { group, default: fallback } = optionRow(name)
      const line =
        text.split('\n').find((candidate) => candidate.replace('-p, ', '').startsWith(`  ${flagName(name)} `)) ?? ''
      expect(line, name).toContain(fallback === undefined ? '' : `(default: ${fallback})`)
      expect(text).toContain(`\n${group}:\n`)
    }
    expect(out).toContain('PETSTORE_SANDBOX_BAN_AFTER')
    expect(out).toContain('petstore-sandbox.yaml')
  })

  it('reads well', async () => expect((await run(['serve', '--help'])).out).toMatchSnapshot())
})
