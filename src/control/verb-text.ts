import { excerpt } from '../contract/excerpt.js'
import type { Spaces } from '../core/spaces.js'
import { type EpochMs, isoText, parseDuration } from '../domain/time.js'
import { valuesText } from './texts.js'
import type { Verb, VerbDone } from './verb.js'
import type { VerbName } from './verb-map.js'
import { VERBS } from './verbs.js'

/** One sentence. Keys in it come from the output, which has their label: the input may be a real key. */
export function verbText({ name, input, output }: Pick<VerbDone, 'name' | 'input' | 'output'>): string {
  const { text }: Partial<Verb> = VERBS[name as VerbName]
  const { key: _, ...open } = Object(input)
  if (text !== undefined) return excerpt(text(output, open))
  return excerpt(`${name.replace('.', ' ')} ${valuesText(open)}`.trimEnd())
}

/** Reports a verb to the followers of its space. @returns the verb with its sentence and time */
export function reportVerb(spaces: Spaces, verb: Omit<VerbDone, 'at' | 'text'>, wall: EpochMs): VerbDone {
  const space = spaces.get(verb.space)
  const at = space?.now(wall) ?? wall
  const done = { ...verb, text: verbText(verb), at }
  const until = endOf(done)
  const key = BAN_VERB.test(verb.name) ? Object(verb.output).key : undefined
  space?.log.publish({
    at: new Date(at).toISOString(),
    verb: verb.name,
    text: done.text,
    ...(until !== undefined && { until }),
    ...(key !== undefined && { key }),
  })
  return done
}

const BAN_VERB = /^keys\.(?:un)?ban$/

function endOf({ name, output, at }: VerbDone): string | undefined {
  const { ban, for: length, every } = Object(output)
  if (name === 'keys.ban') return Object(ban).until
  const lasts = name === 'storm.start' && every === null ? parseDuration(String(length)) : undefined
  return lasts === undefined ? undefined : isoText(at + lasts)
}
