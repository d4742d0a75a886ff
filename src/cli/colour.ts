import type { ChalkInstance } from 'chalk'
import type { Environment } from '../system/environment.js'
import type { Output } from './io.js'

/**
 * How many colours a stream gets: none, or the sixteen that every terminal has.
 *
 * The environment is asked before the stream. Chalk itself ignores NO_COLOR and
 * reads the command line, so it is never left to decide.
 *
 * @source no-color.org; force-color.org; commander, useColor()
 */
export function colourLevel(stream: Output, env: Environment): 0 | 1 {
  const { NO_COLOR, FORCE_COLOR, TERM } = env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return 0
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR === '0' || FORCE_COLOR === 'false' ? 0 : 1
  return stream.isTTY === true && TERM !== 'dumb' ? 1 : 0
}

/** Whether a stream is read by people: a terminal is, and where colours are forced somebody wants to see them. */
export function isForPeople(stream: Output, env: Environment): boolean {
  return stream.isTTY === true || (env.FORCE_COLOR !== undefined && colourLevel(stream, env) === 1)
}

/** Chalk for one stream. It is loaded only where something is coloured. */
export async function chalkFor(level: 0 | 1): Promise<ChalkInstance> {
  const { Chalk } = await import('./chalk.js')
  return new Chalk({ level })
}
