import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { Failure } from '../../domain/failures.js'
import type { DurationMs } from '../../domain/time.js'
import type { Environment } from '../../system/this-process.js'
import { type CliIo, exitCodeOf, gracefulThenForce, type SignalHandlers, type StopSignal } from '../io.js'

const SWEEP_TIMEOUT_MS: DurationMs = 2000
const SWEEP_CHECK_MS: DurationMs = 20
const STDIN = 0
/** Signals that only `exec` handles, so that it does not end before its command. */
const OTHER_SIGNALS = ['SIGHUP', 'SIGQUIT'] as const

export type ForwardedSignal = StopSignal | (typeof OTHER_SIGNALS)[number]

export type CommandOutcome =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'unstartable'; readonly cause: NodeJS.ErrnoException }

export interface CommandLine {
  readonly name: string
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string
  /** Takes its output; stdin is empty then. Default: our terminal or pipes. */
  readonly onOutput?: (piece: Buffer) => void
  /** Keeps our stdout for the result. */
  readonly stdoutToStderr?: boolean
}

export interface RunningCommand {
  readonly ended: Promise<CommandOutcome>
  relay(signal: ForwardedSignal): void
  /** As Ctrl-C does on a terminal: what the command has started is in our own group there. */
  end(): void
  kill(): void
  sweep(): Promise<void>
}

// The command leads a process group, so that signals reach everything it starts. Not if stdin is a terminal: the system
// stops a background group that reads from the terminal, and only a process group in the foreground gets Ctrl-C. There the
// command stays in our group, and what it leaves running is left, as by a shell.
export function runCommand(command: CommandLine): RunningCommand {
  const { name, args, env, cwd, onOutput, stdoutToStderr = false } = command
  const onTerminal = onOutput === undefined && isatty(STDIN)
  const leadsGroup = !onTerminal && process.platform !== 'win32'
  let child: ChildProcess
  try {
    child = spawn(name, args, {
      cwd,
      env,
      stdio:
        onOutput === undefined ? ['inherit', stdoutToStderr ? 2 : 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
      detached: leadsGroup,
    })
  } catch (error) {
    const ended = Promise.resolve<CommandOutcome>({ kind: 'unstartable', cause: error as NodeJS.ErrnoException })
    return { ended, relay: () => {}, end: () => {}, kill: () => {}, sweep: async () => {} }
  }
  if (onOutput !== undefined) for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput)
  const { pid } = child
  const group = leadsGroup ? pid : undefined
  const ended = new Promise<CommandOutcome>((resolve) => {
    child.once('error', (cause) => pid === undefined && resolve({ kind: 'unstartable', cause }))
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signalled', signal }),
    )
  })
  const send = (signal: NodeJS.Signals) => {
    if (group === undefined) child.kill(signal)
    else signalGroup(group, signal)
  }
  const kill = () => send('SIGKILL')
  // However this process ends, unless it is killed.
  process.once('exit', kill)
  return {
    ended,
    relay(signal) {
      // Many programs end at once when they get it twice.
      const comesFromTerminal = onTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT')
      if (!comesFromTerminal) send(signal)
    },
    end() {
      if (onTerminal) process.kill(0, 'SIGINT')
      else send('SIGTERM')
    },
    kill,
    async sweep() {
      if (group !== undefined) await endGroup(group)
      // A daemon may hold them open.
      for (const stream of [child.stdout, child.stderr]) stream?.destroy()
      process.off('exit', kill)
    },
  }
}

/** The exit code for an ending. @source coreutils, env, nohup and timeout: exit status */
export function exitCodeFor(ending: CommandOutcome): number {
  switch (ending.kind) {
    case 'exited':
      return ending.code
    case 'signalled':
      return 128 + constants.signals[ending.signal]
    case 'unstartable':
      return exitCodeOf(startFailure('', ending.cause).code)
  }
}

export function startFailure(name: string, cause: NodeJS.ErrnoException): Failure {
  const shown = JSON.stringify(name)
  return isMissing(cause)
    ? new Failure('NO_SUCH_COMMAND', `${shown} was not found. Is it installed, and in PATH?`)
    : new Failure('NOT_EXECUTABLE', `${shown} cannot be run (${cause.code ?? cause.message}).`)
}

function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE'
}

async function endGroup(group: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(group, signal)) return
    const giveUpAt = performance.now() + SWEEP_TIMEOUT_MS
    while (signalGroup(group, 0) && performance.now() < giveUpAt) await pause(SWEEP_CHECK_MS)
  }
}

/** @param signal 0 only checks @returns whether the group has a process */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/** SIGINT and SIGTERM stay handled: npm sends each twice, and the second must not end this process early. */
export function onExitSignals(
  io: Pick<CliIo, 'onSignal' | 'monotonic'>,
  handlers: SignalHandlers<ForwardedSignal>,
): () => void {
  const handle = gracefulThenForce(io, handlers)
  io.onSignal(handle)
  for (const signal of OTHER_SIGNALS) process.on(signal, handle)
  return () => {
    for (const signal of OTHER_SIGNALS) process.off(signal, handle)
  }
}
