/**
 * Far more than anybody sends before an answer: a 103 or two, or a 102 now and then while it is worked on. Who sends them
 * without end would be listened to until the time for an answer is up.
 *
 * @source RFC 9110, section 15.2: a client reads one or more of them
 */
const MOST_INTERIM = 100

/** An answer was announced again and again, and not given. */
export class TooManyInterimError extends Error {
  override readonly name = 'TooManyInterimError'

  constructor() {
    super(`it sent more than ${MOST_INTERIM} interim responses (1xx), and no answer`)
  }
}

/**
 * Makes what is called for each interim response to a request.
 *
 * @returns throws TooManyInterimError for the one that is too many
 */
export function interimCounter(): () => void {
  let count = 0
  return () => {
    if (++count > MOST_INTERIM) throw new TooManyInterimError()
  }
}
