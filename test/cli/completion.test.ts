import { expect, it } from 'vitest'
import { everyCommand, helpOf } from './every-command.js'
import { run } from './test-io.js'

it.each(['bash', 'zsh', 'fish'])(
  'the script of %s has every command, subcommand and flag of the help',
  async (shell) => {
    const { code, out, err } = await run(`completion ${shell}`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const words = new Set(out.split(/[^\w-]+/))
    const commands = await everyCommand()
    expect(commands.length).toBeGreaterThan(50)
    for (const path of commands) {
      const flags = [...(await helpOf(path)).matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, flag = '']) => flag)
      const known = shell === 'fish' ? flags : flags.map((flag) => `--${flag}`)
      for (const word of [...path, ...known]) expect(words, `${path.join(' ')}: ${word}`).toContain(word)
    }
  },
)

it('completion refuses other shells', async () => {
  expect((await run('completion ksh')).code).toBe(2)
  expect((await run('completion')).code).toBe(2)
})
