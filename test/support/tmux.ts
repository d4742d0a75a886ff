import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** It is half a minute until a test says what it saw instead of what it waited for. */
const MOST_LOOKS = 1000

/** A terminal with a shell in it, as wide as a test wants. It is closed after the test. */
export class Terminal {
  readonly #socket: string

  constructor(columns: number, cwd: string, env: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'terminal-'))
    this.#socket = join(folder, 'tmux')
    onTestFinished(() => {
      this.close()
      rmSync(folder, { recursive: true, force: true })
    })
    const variables = Object.entries({ PS1: '$ ', ...env }).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    // This shell leaves the terminal alone, so that what a program leaves behind can be seen.
    const shell = ['env', 'ENV=', 'sh', '-i']
    const size = ['-x', String(columns), '-y', '50']
    this.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, ...variables, ...shell)
  }

  /** What is in it now, row by row, without what has scrolled away. */
  rows(): readonly string[] {
    return this.#tmux('capture-pane', '-p').trimEnd().split('\n')
  }

  /** The same; a row that the terminal has broken is whole. */
  unbroken(): readonly string[] {
    return this.#tmux('capture-pane', '-p', '-J')
      .split('\n')
      .map((row) => row.trimEnd())
      .join('\n')
      .trimEnd()
      .split('\n')
  }

  /** The same with its colours. */
  coloured(): string {
    return this.#tmux('capture-pane', '-p', '-e')
  }

  type(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  run(command: string): void {
    this.type('-l', command)
    this.type('Enter')
  }

  /** Resolves with what matches, as soon as it is there. */
  async sees(pattern: RegExp): Promise<RegExpExecArray> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const match = pattern.exec(this.unbroken().join('\n'))
      if (match !== null) return match
      await turn()
    }
    throw new Error(`${pattern} was not to be seen:\n${this.unbroken().join('\n')}`)
  }

  /** Resolves when keys are read one by one (raw), or lines are. */
  async becomes(mode: 'raw' | 'cooked'): Promise<void> {
    const tty = this.#tmux('display-message', '-p', '#{pane_tty}').trim()
    const isRaw = () => /-icanon\b/.test(spawnSync('stty', ['-a', '-F', tty], { encoding: 'utf8' }).stdout)
    while (isRaw() !== (mode === 'raw')) await turn()
  }

  resize(columns: number): void {
    this.#tmux('resize-window', '-x', String(columns))
  }

  close(): void {
    spawnSync('tmux', ['-S', this.#socket, 'kill-server'])
  }

  #tmux(...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`)
    return stdout
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
