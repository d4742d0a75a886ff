/** The logins of a space: those up to a number are over. */
export interface Logins {
  readonly issued: number
  readonly ended: number
  /** Those that clients have ended themselves. */
  readonly closed?: readonly number[]
}

export const NO_LOGINS: Logins = { issued: 0, ended: 0 }

export function isRunning({ issued, ended, closed }: Logins, n: number): boolean {
  return n > ended && n <= issued && !closed?.includes(n)
}
