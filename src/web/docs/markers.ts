import type { JsonMap } from './json-map.js'

/** A marker on an operation that is visible before it is opened. */
export interface Marker {
  readonly kind: 'deprecated' | 'stability'
  readonly text: string
}

/** An ISO date, or the date of an ISO instant. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}/
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** The marks of an operation in the contract: deprecation, removal date, stability. */
export function markersOf(operation: JsonMap): readonly Marker[] {
  const { 'x-deprecated-sunset': sunset, 'x-stability': stability } = operation
  const markers: Marker[] = []
  if (typeof sunset === 'string')
    markers.push({ kind: 'deprecated', text: `Deprecated, removed on ${writeDay(sunset)}` })
  else if (operation.deprecated === true) markers.push({ kind: 'deprecated', text: 'Deprecated' })
  if (typeof stability === 'string') markers.push({ kind: 'stability', text: stability })
  return markers
}

/** `2030-12-05` as `5 December 2030`; what is no date is shown as it stands. */
function writeDay(text: string): string {
  const at = Date.parse(ISO_DATE.exec(text)?.[0] ?? '')
  return Number.isNaN(at) ? text : DAY.format(at)
}
