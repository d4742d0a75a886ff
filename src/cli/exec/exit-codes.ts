import { FAILURES } from '../../domain/failures.js'

/** Exit codes of `exec` when there is none of the command's to pass on. @source coreutils, env, nohup and timeout: exit status */
export const EXEC_EXIT = {
  /** No sandbox could be started, or it could not be stopped well. */
  noSandbox: 125,
  notExecutable: FAILURES.NOT_EXECUTABLE.exit,
  noSuchCommand: FAILURES.NO_SUCH_COMMAND.exit,
  /** Plus the signal's number. */
  signal: 128,
} as const
