import { isInForeground } from '../exec/processes.js'

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

/** A shell does not notify a background process that it is in the foreground again, unless it was stopped. */
const POLL_MS = 500
/** After this time a requested stop has happened, or will not: without job control nobody could resume the process. */
const STOP_TIMEOUT_MS = 100

/**
 * Reads single keys of the terminal, in the background as soon as the process is in the foreground.
 *
 * @param onKeys gets a key, the sequence of a key, or pasted text
 * @returns undefined if stdin is not a terminal
 */
export function openKeyboard(onKeys: (piece: string) => void, onHangup: () => void) {
  const { stdin } = process
  if (!stdin.isTTY) return undefined
  let isReading = false
  const setRaw = (isRaw: boolean) => {
    try {
      return stdin.setRawMode(isRaw)
    } catch {
      // The terminal is gone.
      return undefined
    }
  }
  const begin = () => {
    // The system stops a background process that changes the terminal.
    if (isReading || !isInForeground() || setRaw(true) === undefined) return
    isReading = true
    stdin.resume()
  }
  const end = () => {
    if (!isReading) return
    isReading = false
    stdin.pause()
    setRaw(false)
  }
  const resume = () => {
    // After a stop from outside the shell may have reset the terminal without Node's knowledge.
    if (isReading && isInForeground()) setRaw(false)
    else if (isReading) stdin.pause()
    isReading = false
    begin()
  }
  const onData = (piece: Buffer) => onKeys(piece.toString())
  stdin.on('data', onData).pause()
  stdin.on('error', onHangup)
  stdin.on('end', onHangup)
  process.on('SIGHUP', onHangup)
  process.on('SIGCONT', resume)
  // Elsewhere it would run ps.
  const polling = process.platform === 'linux' ? setInterval(begin, POLL_MS).unref() : undefined
  begin()
  return {
    isReading,
    /** Stops the process as Ctrl-Z does; reads again once it is in the foreground. */
    suspend() {
      end()
      process.kill(0, 'SIGTSTP')
      setTimeout(begin, STOP_TIMEOUT_MS).unref()
    },
    /** SIGHUP stays handled, as the other stop signals: a stop that has begun is finished. */
    stop() {
      end()
      stdin.off('data', onData)
      process.off('SIGCONT', resume)
      clearInterval(polling)
    },
  }
}
