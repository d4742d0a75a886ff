export interface KeyAction {
  readonly does: string
  readonly question?: string
  run(): void | Promise<void>
}

export interface KeyEvents {
  printLine(text: string): void
  /** Called for keys that the terminal itself would have turned into a signal. */
  raise(signal: TerminalSignal): void
  failed(error: unknown): void
}

export type TerminalSignal = 'SIGINT' | 'SIGQUIT' | 'SIGTSTP'

/** @source termios(3): VINTR, VQUIT, VSUSP */
const SIGNALS: Readonly<Record<string, TerminalSignal>> = {
  '\u0003': 'SIGINT',
  '\u001c': 'SIGQUIT',
  '\u001a': 'SIGTSTP',
}

/** Input of several characters was pasted, or is an escape sequence: only a signal counts in it. */
export function keyReader(
  actions: Readonly<Record<string, KeyAction>>,
  { printLine, raise, failed }: KeyEvents,
): (piece: string) => void {
  let asked: KeyAction | undefined
  const run = ({ run: act }: KeyAction) => void Promise.resolve().then(act).catch(failed)
  return (piece) => {
    const characters = [...piece]
    const signal = characters.map((character) => SIGNALS[character]).find((one) => one !== undefined)
    if (signal !== undefined) return raise(signal)
    if (characters.length !== 1) return
    const key = piece.toLowerCase()
    const action = asked ?? (Object.hasOwn(actions, key) ? actions[key] : undefined)
    if (asked !== undefined) {
      if (key === 'y') run(asked)
      else printLine('Cancelled.')
      asked = undefined
    } else if (action?.question !== undefined) {
      asked = action
      printLine(`${action.question} [y/N]`)
    } else if (action !== undefined) run(action)
    else if (key === '\r' || key === '\n') printLine('')
    else if (key === 'h' || key === '?') {
      const lines = Object.entries(actions).map(([name, { does }]) => `  ${name}  ${does}`)
      printLine(['', ...lines, '  h  this help', ''].join('\n'))
    }
  }
}
