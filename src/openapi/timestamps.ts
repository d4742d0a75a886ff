import type { Node } from '../contract/document.js'
import { allowsNull, type RecordField } from '../contract/schema-fields.js'

const instant = (names: string) => new RegExp(`^(${names})(_?(at|on|time|date))?$`, 'i')

const OF_ALL = 'created|inserted|added'
const NEVER_NULL = instant(OF_ALL)
const CREATED = instant(`${OF_ALL}|placed|started|joined|registered|enrolled|issued|submitted|uploaded`)
export const UPDATED = instant('updated|modified|changed|last_?(updated|modified)')

/** `joinedAt`. */
const INSTANT = /[a-z](_at|At|_?[Tt]imestamp)$/

/** Instants that are not those of the creation. */
const OTHER_INSTANT = /^(deleted|removed|cancell?ed|expire|expiry|end|due|valid|until|next|start|scheduled)/i

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
  if (type === 'string') return format === 'date-time' || (isUsual && format === 'date') ? format : undefined
  const { description, example }: Node = Object(place.value)
  const isEpoch = /^(?:unix|epoch|timestamp)/i.test(format ?? '') || /\b(?:epoch|unix)\b/i.test(String(description))
  if (type !== 'integer' || !(isEpoch || (isSet && INSTANT.test(name)))) return undefined
  return Number(example) > 1e11 || /milli/i.test(`${format} ${description}`) ? 'milliseconds' : 'seconds'
}
