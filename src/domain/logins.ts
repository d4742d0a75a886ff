/** The logins of a space: those up to a number are over. */
export interface Logins {
  readonly issued: number
  readonly ended: number
}

export const NO_LOGINS: Logins = { issued: 0, ended: 0 }

export function isRunning({ issued, ended }: Logins, n: number): boolean {
  return n > ended && n <= issued
}
