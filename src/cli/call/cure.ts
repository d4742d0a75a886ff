import { splitKey } from '../../api/controls.js'
import type { ServiceAnswer } from '../../client/exchange.js'
import { headerOf, secondsOf } from '../../client/send.js'
import { SANDBOX, type Target } from '../../client/target.js'
import type { DurationMs } from '../../domain/time.js'

/** Fixture keys that are always refused: no wait ends that. */
const HOPELESS: readonly string[] = ['sandbox-limited', 'sandbox-banned']
/** What a command line can hold as it is. */
const PLAIN = /^[\w.-]*$/

/**
 * The command that ends a refusal at once, on a sandbox: nobody has to wait for a clock that can be moved.
 *
 * @param wait how long the client would have to wait
 */
export function cureOf(
  answer: ServiceAnswer,
  wait: DurationMs | undefined,
  { name, apiKey = '' }: Pick<Target, 'name' | 'apiKey'>,
): string | undefined {
  const { key, space } = splitKey(apiKey)
  if (name !== SANDBOX || HOPELESS.includes(key) || !PLAIN.test(space)) return undefined
  const control = `petstore-sandbox control${space === '' ? '' : ` --space ${space}`}`
  switch (headerOf(answer, 'x-sandbox-reason')) {
    case 'quota-minute':
    case 'quota-day':
    case 'ban':
      return wait === undefined ? undefined : `${control} clock advance ${secondsOf(wait)}s`
    case 'storm':
      return `${control} storm stop`
    case 'fault':
      return `${control} fault clear`
    default:
      return undefined
  }
}
