/** What `exec` ends with where there is no child's code to hand on. @source coreutils' env, nohup, timeout */
export const EXEC_EXIT = {
  /** No sandbox could be started, or it could not be stopped well. */
  noSandbox: 125,
  notExecutable: 126,
  noSuchCommand: 127,
  /** Plus the signal's number. */
  signal: 128,
} as const
