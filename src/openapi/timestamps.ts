import type { Node, Place } from '../contract/document.js'
import { fits } from '../contract/example-value.js'
import { allowsNull, type RecordField } from '../contract/schema-fields.js'

const instant = (names: string) => new RegExp(`^(${names})(_?(at|on|time|date))?(_?utc)?$`, 'i')

const OF_ALL = 'created|inserted|added'
const NEVER_NULL = instant(OF_ALL)
const CREATED = instant(`${OF_ALL}|placed|started|joined|registered|enrolled|issued|submitted|uploaded`)
export const UPDATED = instant('updated|modified|changed|last_?(updated|modified)')

/** `joinedAt`. */
const INSTANT = /[a-z](_at|At|_?[Tt]imestamp)$/

/** Instants that are not those of the creation. */
const OTHER_INSTANT = /^(deleted|removed|cancell?ed|expire|expiry|end|due|valid|until|next|start|scheduled)/i

/** `created_on`. */
const WHEN = /(at|on|time|date|utc)$/i
/** Smaller numbers are durations or counts. */
const LEAST_EPOCH_S = 1e8

const SAMPLES = { 'date-time': '2026-01-01T00:00:00.000Z', date: '2026-01-01' } as const

/** The form of an instant without a format, as its example has it. */
function formOf(example: unknown, place: Place): keyof typeof SAMPLES | undefined {
  const text = String(example ?? SAMPLES['date-time'])
  const form = /^\d{4}-\d\d-\d\d$/.test(text) ? 'date' : /^\d{4}-\d\d-\d\dT/.test(text) ? 'date-time' : undefined
  return form !== undefined && fits(SAMPLES[form], place) ? form : undefined
}

/** The form of an instant that the service sets; undefined for other properties. @param isUnsent clients cannot send it */
export function timestampFormat(
  name: string,
  { type, format, place, required }: RecordField,
  isUnsent: boolean,
): 'date-time' | 'date' | 'seconds' | 'milliseconds' | undefined {
  // With null, an instant such as issued_at may not have come yet.
  const isUsual = (allowsNull(place) ? NEVER_NULL : CREATED).test(name) || UPDATED.test(name)
  const isSet = isUnsent && required && !OTHER_INSTANT.test(name) && !allowsNull(place)
  if (!isUsual && !isSet) return undefined
  const { description, examples, example = [examples].flat()[0] }: Node = Object(place.value)
  if (type === 'string') {
    const form = format ?? (isUsual && isUnsent ? formOf(example, place) : undefined)
    return form === 'date-time' || (isUsual && form === 'date') ? form : undefined
  }
  const isEpoch = /^(?:unix|epoch|timestamp)/i.test(format ?? '') || /\b(?:epoch|unix)\b/i.test(String(description))
  const isSeconds = isUsual && isUnsent && (WHEN.test(name) || Number(example) >= LEAST_EPOCH_S)
  if (type !== 'integer' || !(isEpoch || isSeconds || (isSet && INSTANT.test(name)))) return undefined
  return Number(example) > 1e11 || /milli/i.test(`${format} ${description}`) ? 'milliseconds' : 'seconds'
}
