import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** About 30 s. */
const MAX_ATTEMPTS = 1000

/** A terminal with a shell, closed after the test. */
export class Terminal {
  readonly #socket: string

  constructor(columns: number, cwd: string, env: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'terminal-'))
    this.#socket = join(folder, 'tmux')
    onTestFinished(() => {
      this.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    })
    const variables = Object.entries({ PS1: '$ ', ...env }).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    // This shell does not change terminal modes, so that leftovers of a program are visible.
    const shell = ['env', 'ENV=', 'sh', '-i']
    const size = ['-x', String(columns), '-y', '50']
    this.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, ...variables, ...shell)
  }

  /** Visible rows. */
  rows(): readonly string[] {
    return this.#tmux('capture-pane', '-p').trimEnd().split('\n')
  }

  /** Rows, with wrapped lines joined. */
  unbroken(): readonly string[] {
    const rows = this.#tmux('capture-pane', '-p', '-J').split('\n')
    return rows.slice(0, rows.findLastIndex((row) => row.trim() !== '') + 1).map((row) => row.trimEnd())
  }

  /** With colour codes. */
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

  /** Waits for a match. */
  async sees(pattern: RegExp): Promise<RegExpExecArray> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      const match = pattern.exec(this.unbroken().join('\n'))
      if (match !== null) return match
      await turn()
    }
    throw new Error(`${pattern} did not appear:\n${this.unbroken().join('\n')}`)
  }

  /** Waits until keys are read one by one (raw), or by line. */
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
