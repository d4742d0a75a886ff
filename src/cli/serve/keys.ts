/** What a key does. */
export interface KeyAction {
  /** For the help: `open the dashboard`. */
  readonly does: string
  /** Asked before it is done: a yes does it, any other key does not. */
  readonly question?: string
  run(): void | Promise<void>
}

/** Keys of a terminal that is read one by one, and what happens outside of them. */
export interface KeyEvents {
  say(text: string): void
  /** Passes on what the terminal itself would have made a signal of. */
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

/**
 * Reads what a terminal in raw mode sends.
 *
 * A piece of several characters was pasted, or is the sequence of an arrow or a function key:
 * nothing in it is a command, but a Ctrl-C always is one.
 *
 * @returns takes each piece that the terminal sends
 */
export function keyReader(
  actions: Readonly<Record<string, KeyAction>>,
  { say, raise, failed }: KeyEvents,
): (piece: string) => void {
  let asked: KeyAction | undefined
  const run = (action: KeyAction) => {
    Promise.resolve()
      .then(() => action.run())
      .catch(failed)
  }
  return (piece) => {
    const signal = [...piece].map((character) => SIGNALS[character]).find((one) => one !== undefined)
    if (signal !== undefined) return raise(signal)
    if ([...piece].length !== 1) return
    const key = piece.toLowerCase()
    if (asked !== undefined) {
      const action = asked
      asked = undefined
      if (key === 'y') run(action)
      else say('Nothing was done.')
    } else if (key === '\r' || key === '\n') say('')
    else if (key === 'h' || key === '?') say(helpOf(actions))
    else if (Object.hasOwn(actions, key)) {
      const action = actions[key]
      if (action?.question === undefined) {
        if (action !== undefined) run(action)
      } else {
        asked = action
        say(`${action.question} [y/N]`)
      }
    }
  }
}

function helpOf(actions: Readonly<Record<string, KeyAction>>): string {
  return ['', ...Object.entries(actions).map(([key, { does }]) => `  ${key}  ${does}`), '  h  this help', ''].join('\n')
}
