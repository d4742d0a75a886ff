import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.js'
import { runCli } from '../../src/cli/run-cli.js'
import { flagName } from '../../src/options/names.js'
import { OPTION_NAMES, optionRow } from '../../src/options/table.js'
import { packageVersion } from '../../src/system/package-files.js'
import { testIo } from './test-io.js'

async function run(argv: readonly string[], io = testIo()) {
  const code = await runCli(argv, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

describe('the command line', () => {
  it('prints its version', async () =>
    expect(await run(['--version'])).toEqual({ code: 0, out: `${packageVersion}\n`, err: '' }))

  it.each([['--help'], ['-h'], ['help']])('prints its help on stdout: %s', async (...argv) => {
    const { code, out, err } = await run(argv)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    for (const { name, summary } of COMMANDS) expect(out).toContain(`${name}${' '.repeat(16 - name.length)}${summary}`)
    expect(out).toContain('Exit codes:')
  })

  it('prints its help on stderr where no command is given, as a usage error', async () => {
    const { code, out, err } = await run([])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Commands:')
  })

  it.each([
    [['serv'], "USAGE: unknown command 'serv' (Did you mean serve?)\n"],
    [['serve', '--prot', '1'], "USAGE: unknown option '--prot' (Did you mean --port?)\n"],
    [['serve', '--port'], "USAGE: option '-p, --port <n>' argument missing\n"],
    [['serve', 'now'], "USAGE: too many arguments for 'serve'. Expected 0 arguments but got 1.\n"],
    [['--nope'], "USAGE: unknown option '--nope'\n"],
  ])('refuses %j as a usage error', async (argv, err) => expect(await run(argv)).toEqual({ code: 2, out: '', err }))

  it('tells every bad option on a line of its own', async () =>
    expect(await run(['serve', '--plan', 'gold', '--port', 'x'])).toEqual({
      code: 2,
      out: '',
      err: [
        'INVALID_OPTIONS: --plan "gold": must be free, pro, business or enterprise',
        'INVALID_OPTIONS: --port "x": must be a whole number from 0 to 65535',
        '',
      ].join('\n'),
    }))

  it('cannot be made to print what drives a terminal', async () => {
    const io = testIo()
    writeFileSync(join(io.cwd, 'petstore-sandbox.yaml'), '"\\e[2Jplan": pro')
    expect((await run(['serve'], io)).err).toBe(
      'INVALID_OPTIONS: petstore-sandbox.yaml:1:1: \\u001b[2Jplan: is not a known option\n',
    )
  })

  it('shows a stack with --debug only', async () => {
    expect((await run(['serve', '--port', 'x'])).err).not.toContain('    at ')
    expect((await run(['serve', '--port', 'x', '--debug'])).err).toContain('    at ')
    expect((await run(['serve', '--port', 'x'], testIo({ env: { PETSTORE_SANDBOX_DEBUG: '1' } }))).err).toContain(
      '    at ',
    )
  })
})

describe('the help of serve', () => {
  it.each([
    ['serve', '--help'],
    ['help', 'serve'],
  ])('is printed by %s %s', async (...argv) => {
    const { code, out, err } = await run(argv)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('Usage: petstore-sandbox serve [options]')
  })

  it('shows every option under its heading, with its default and the other ways to set it', async () => {
    const { out } = await run(['serve', '--help'])
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

  it('fits a terminal of 80 columns', async () => {
    const { out } = await run(['serve', '--help'])
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})
