import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { Failure } from '../../domain/failures.js'
import type { DurationMs } from '../../domain/time.js'
import type { Environment } from '../../system/this-process.js'
import { type CliIo, exitCodeOf, gracefulThenForce, type SignalHandlers, type StopSignal } from '../io.js'
import { groupTree, isInForeground, markedTree, NO_TREE, type ProcessTree } from './processes.js'

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
  /** `NAME=value`, in the environment of this command only. */
  readonly mark: string
  /** Takes its output; stdin is empty then. Default: our terminal or pipes. */
  readonly onOutput?: (piece: Buffer) => void
  /** Keeps our stdout for the result. */
  readonly stdoutToStderr?: boolean
}

export interface RunningCommand {
  readonly ended: Promise<CommandOutcome>
  relay(signal: ForwardedSignal): void
  kill(): void
  sweep(): Promise<void>
}

// On a terminal the command stays in our process group, so that it may read from the terminal and gets Ctrl-C from it.
// Elsewhere (CI, pipes) it leads its own group, which finds everything it starts.
export function runCommand(command: CommandLine): RunningCommand {
  const { name, args, env, cwd, mark, onOutput, stdoutToStderr = false } = command
  const isWindows = process.platform === 'win32'
  const onTerminal = onOutput === undefined && isatty(STDIN)
  let child: ChildProcess
  try {
    child = spawn(name, args, {
      cwd,
      env,
      stdio:
        onOutput === undefined ? ['inherit', stdoutToStderr ? 2 : 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
      detached: !onTerminal && !isWindows,
    })
  } catch (error) {
    const ended = Promise.resolve<CommandOutcome>({ kind: 'unstartable', cause: error as NodeJS.ErrnoException })
    return { ended, relay: () => {}, kill: () => {}, sweep: async () => {} }
  }
  if (onOutput !== undefined) for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput)
  const { pid } = child
  const ended = new Promise<CommandOutcome>((resolve) => {
    child.once('error', (cause) => pid === undefined && resolve({ kind: 'unstartable', cause }))
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signalled', signal }),
    )
  })
  const tree =
    pid === undefined || isWindows
      ? NO_TREE
      : onTerminal
        ? markedTree(process.pid, mark)
        : groupTree(pid, onOutput && mark)
  const kill = () => {
    tree.signal('SIGKILL')
    child.kill('SIGKILL')
  }
  // However this process ends, unless it is killed.
  process.once('exit', kill)
  return {
    ended,
    relay(signal) {
      if (!onTerminal && !isWindows) tree.signal(signal)
      else if (!onTerminal || !comesFromTerminal(signal)) child.kill(signal)
    },
    kill,
    async sweep() {
      await endTree(tree)
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

/** Whether the command got the signal from the terminal: many programs end at once when they get it twice. */
function comesFromTerminal(signal: ForwardedSignal): boolean {
  return (signal === 'SIGINT' || signal === 'SIGQUIT') && isInForeground()
}

async function endTree(tree: ProcessTree): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!tree.isAlive()) return
    tree.signal(signal)
    const giveUpAt = performance.now() + SWEEP_TIMEOUT_MS
    while (tree.isAlive() && performance.now() < giveUpAt) await pause(SWEEP_CHECK_MS)
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
