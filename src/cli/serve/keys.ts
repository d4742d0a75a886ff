import { emitKeypressEvents, type Key } from 'node:readline'

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

/** @returns takes the character or escape sequence of a key */
export function keyReader(
  actions: Readonly<Record<string, KeyAction>>,
  { printLine, raise, failed }: KeyEvents,
): (sequence: string) => void {
  let asked: KeyAction | undefined
  const run = ({ run: act }: KeyAction) => void Promise.resolve().then(act).catch(failed)
  return (sequence) => {
    const signal = SIGNALS[sequence]
    if (signal !== undefined) return raise(signal)
    const key = sequence.toLowerCase()
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

/** Reads single keys of the terminal. @returns a function that stops, or undefined if stdin is not a terminal */
export function openKeyboard(onKey: (sequence: string) => void, onHangup: () => void): (() => void) | undefined {
  const { stdin } = process
  if (!stdin.isTTY) return undefined
  const onKeypress = (_: unknown, { sequence = '' }: Key) => onKey(sequence)
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.on('keypress', onKeypress).on('error', onHangup).on('end', onHangup).resume()
  // It stays handled, as the other stop signals: a stop that has begun is finished.
  process.on('SIGHUP', onHangup)
  return () => {
    stdin.off('keypress', onKeypress).pause()
    try {
      stdin.setRawMode(false)
    } catch {
      // The terminal is gone.
    }
  }
}
