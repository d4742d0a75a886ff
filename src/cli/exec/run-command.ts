import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { DurationMs } from '../../domain/time.js'
import type { Environment } from '../../system/environment.js'
import { EXEC_EXIT } from './exit-codes.js'
import type { PartingSignal } from './parting-signals.js'
import { groupTree, markedTree, NO_TREE, type ProcessTree } from './process-tree.js'
import { isInForeground } from './processes.js'

/** How long leftover processes may take to end after SIGTERM. */
const SWEEP_PATIENCE_MS: DurationMs = 2000
const SWEEP_CHECK_MS: DurationMs = 20
const STDIN = 0

/** How a command ended. */
export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'unstartable'; readonly cause: NodeJS.ErrnoException }

export interface Command {
  readonly name: string
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string
  /** `NAME=value`, in the environment of this command only. */
  readonly mark: string
}

/** A command that runs on this process's terminal, or on its pipes. */
export interface RunningCommand {
  readonly ended: Promise<Ending>
  /** Passes on a signal that this process received. */
  relay(signal: PartingSignal): void
  /** Kills it and everything it started. */
  kill(): void
  /** Ends leftover processes; resolves when none is left. */
  sweep(): Promise<void>
}

/**
 * Starts a command. The only file that starts processes for users.
 *
 * On a terminal, the command stays in this process's group: so it may read from the
 * terminal, stop with Ctrl-Z and have jobs of its own, and Ctrl-C reaches it without
 * our doing. Elsewhere (CI, pipes) it leads a group of its own, by which everything
 * that it starts can be told and ended.
 */
export function runCommand({ name, args, env, cwd, mark }: Command): RunningCommand {
  const isWindows = process.platform === 'win32'
  const onTerminal = isatty(STDIN)
  let child: ChildProcess
  try {
    child = spawn(name, args, { cwd, env, stdio: 'inherit', detached: !onTerminal && !isWindows })
  } catch (error) {
    return unstartable(error as NodeJS.ErrnoException)
  }
  const { pid } = child
  const ended = new Promise<Ending>((resolve) => {
    child.once('error', (cause) => pid === undefined && resolve({ kind: 'unstartable', cause }))
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signalled', signal }),
    )
  })
  const tree = pid === undefined || isWindows ? NO_TREE : onTerminal ? markedTree(process.pid, mark) : groupTree(pid)
  const kill = () => {
    tree.signal('SIGKILL')
    child.kill('SIGKILL')
  }
  // Runs however this process ends, unless it is killed outright.
  process.once('exit', kill)
  return {
    ended,
    relay(signal) {
      if (!onTerminal && !isWindows) tree.signal(signal)
      else if (!onTerminal || !comesFromTerminal(signal)) child.kill(signal)
    },
    kill,
    async sweep() {
      await endFamily(tree)
      process.off('exit', kill)
    },
  }
}

/** The exit code for an ending. */
export function codeOfEnding(ending: Ending): number {
  switch (ending.kind) {
    case 'exited':
      return ending.code
    case 'signalled':
      return EXEC_EXIT.signal + constants.signals[ending.signal]
    case 'unstartable':
      return isMissing(ending.cause) ? EXEC_EXIT.noSuchCommand : EXEC_EXIT.notExecutable
  }
}

export function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE'
}

/**
 * Whether the terminal itself has told everybody of a Ctrl-C or Ctrl-\. Told twice,
 * many programs give up their clean end. That somebody else sent the signal to a
 * process in the foreground cannot be seen; then a second one is needed.
 */
function comesFromTerminal(signal: PartingSignal): boolean {
  return (signal === 'SIGINT' || signal === 'SIGQUIT') && isInForeground(process.pid)
}

async function endFamily(tree: ProcessTree): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!tree.isAlive()) return
    tree.signal(signal)
    const giveUpAt = performance.now() + SWEEP_PATIENCE_MS
    while (tree.isAlive() && performance.now() < giveUpAt) await pause(SWEEP_CHECK_MS)
  }
}

function unstartable(cause: NodeJS.ErrnoException): RunningCommand {
  return {
    ended: Promise.resolve({ kind: 'unstartable', cause }),
    relay: () => {},
    kill: () => {},
    sweep: async () => {},
  }
}
