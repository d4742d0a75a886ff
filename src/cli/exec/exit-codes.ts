import { FAILURES } from '../../domain/failures.js'

/** What `exec` ends with where there is no child's code to hand on. @source coreutils, env, nohup and timeout: exit status */
export const EXEC_EXIT = {
  /** No sandbox could be started, or it could not be stopped well. */
  noSandbox: 125,
  notExecutable: FAILURES.NOT_EXECUTABLE.exit,
  noSuchCommand: FAILURES.NO_SUCH_COMMAND.exit,
  /** Plus the signal's number. */
  signal: 128,
} as const
