import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Terminal } from '../support/tmux.js'
import { HAS_SHELLS, HAS_TMUX } from '../support/tools.js'

/** For each shell its file of settings, the content, and the command that starts it. */
const SHELLS = {
  bash: ['bashrc', "PS1='ready> '; unset HISTFILE", 'bash --noprofile --rcfile bashrc -i'],
  zsh: ['.zshrc', "PS1='ready> '; autoload -U compinit; compinit -D", 'ZDOTDIR=$PWD zsh -i'],
  fish: [
    'config.fish',
    "function fish_prompt; echo 'ready> '; end; function fish_greeting; end; set -g fish_autosuggestion_enabled 0",
    "fish --no-config -C 'source config.fish'",
  ],
} as const

/** What is typed before the Tab key, and how the line goes on. */
const LINES = [
  ['petstore-sandbox ver', 'ify'],
  ['petstore-sandbox serve --plan bus', 'iness'],
  ['petstore-sandbox serve --plan=bus', 'iness'],
  ['petstore-sandbox serve --plan pro --in-m', 'emory'],
  ['petstore-sandbox control --space a clock adv', 'ance'],
  ['petstore-sandbox control clock show --out', 'put'],
  ['petstore-sandbox control plan sandbox-b', /anned|usiness/],
  ['petstore-sandbox control plan sandbox ent', 'erprise'],
  ['petstore-sandbox call listPets --status so', 'ld'],
  ['petstore-sandbox serve --spec ope', /n\\ api\.yaml/],
  ['petstore-sandbox exec --port 0 cat ope', /n\\ api\.yaml/],
  ['npx petstore-sandbox con', /trol|form/],
  ['npx --yes petstore-sandbox verify --output ju', 'nit'],
] as const

describe.skipIf(!HAS_TMUX || !HAS_SHELLS).each(Object.entries(SHELLS))('%s', (shell, [file, settings, start]) => {
  it('completes commands, flags, values and paths at the Tab key, also after npx', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'bin'))
    symlinkSync(join(packageDirectory, 'bin/petstore-sandbox.js'), join(folder, 'bin/petstore-sandbox'))
    writeFileSync(join(folder, 'open api.yaml'), '')
    const script = join(packageDirectory, 'dist/completion', `petstore-sandbox.${shell}`)
    writeFileSync(join(folder, file), `${settings}\nsource '${script}'\n`)
    const terminal = new Terminal(100, folder, { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder })
    terminal.run(start)
    for (const [line, rest] of LINES) {
      await terminal.sees(/ready> ?$/)
      terminal.type('-l', line)
      await terminal.sees(new RegExp(`ready> ${line}$`))
      // The first key completes what all matches share, the second lists them.
      terminal.type('Tab')
      terminal.type('Tab')
      const pattern = typeof rest === 'string' ? new RegExp(`ready> ${line}${rest}`) : new RegExp(rest)
      expect(await terminal.sees(pattern)).toBeTruthy()
      terminal.type('C-c')
      terminal.run('clear')
    }
  })
})
