import type { VerbInput, VerbName } from '../../control/verb-map.js'
import type { KeyView } from '../../control/views.js'
import { PLAN_NAMES } from '../../domain/keys.js'
import type { Exchange } from '../../exchanges/exchange-view.js'

/** Something that helps against what an exchange met, by one click. */
export type Cure = {
  [Name in VerbName]: {
    readonly text: string
    readonly verb: Name
    readonly input: VerbInput<Name>
    readonly done: string
  }
}[VerbName]

/**
 * What would help against what an exchange met.
 *
 * @param key of the exchange as it is now, undefined where it is none of the sandbox's
 * @param now by the space's clock
 */
export function curesOf(
  { reason, key: name, response }: Exchange,
  key: KeyView | undefined,
  now: number,
): readonly Cure[] {
  switch (reason) {
    case 'quota-minute':
    case 'quota-day': {
      if (key === undefined || key.always !== null) return []
      const reset = Number(response.headers['x-ratelimit-reset'] ?? 0) * 1000
      const larger = PLAN_NAMES[PLAN_NAMES.indexOf(key.plan) + 1]
      return [
        ...advance('Advance to the reset', reset - now),
        ...(larger === undefined
          ? []
          : [
              {
                text: `Put on ${larger}`,
                verb: 'keys.change',
                input: { key: name, plan: larger },
                done: `${name} is on the plan ${larger}.`,
              } as const,
            ]),
      ]
    }
    case 'ban': {
      if (key?.ban === null || key === undefined || key.always === 'banned') return []
      const lift = {
        text: 'Lift the ban',
        verb: 'keys.unban',
        input: { key: name },
        done: `${name} is no longer banned.`,
      } as const
      return [lift, ...advance('Advance to its end', Date.parse(key.ban.until) - now)]
    }
    case 'storm':
      return [{ text: 'Stop the storm', verb: 'storm.stop', input: {}, done: 'The storm is stopped.' }]
    case 'fault':
      return [{ text: 'Remove the faults', verb: 'faults.clear', input: {}, done: 'There are no faults.' }]
    case 'sunset':
      return [
        { text: 'Bring it back', verb: 'settings.change', input: { sunset: 'before' }, done: 'Sunset is before.' },
      ]
    case 'brownout':
      return [{ text: 'End the brownout', verb: 'settings.change', input: { sunset: 'auto' }, done: 'Sunset is auto.' }]
    default:
      return []
  }
}

function advance(text: string, milliseconds: number): readonly Cure[] {
  const seconds = Math.ceil(milliseconds / 1000)
  if (!(seconds > 0)) return []
  return [{ text, verb: 'clock.advance', input: { by: `${seconds}s` }, done: `The clock has moved by ${seconds} s.` }]
}
