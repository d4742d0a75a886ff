const DATE = /^\d{4}-\d\d-\d\d$/
/** @source RFC 3339, section 5.6 */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/
/** The same as Python and HTML write it, without a zone. */
const LOCAL_DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)?$/
/** A scheme, and only characters that a URI may have. @source RFC 3986, section 2 */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~!$&'()*+,;=:@/?#[\]-]|%[0-9A-Fa-f]{2})*$/

/** Of any alphabet, also in lines. @source RFC 4648, section 4 */
const BASE64 = /^[\w+/\s-]*(?:=\s*){0,2}$/

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  byte: (text) => BASE64.test(text),
  date: isDate,
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  'date-time': (text) => isDate(DATE_TIME.exec(text)?.[1] ?? ''),
  'local-date-time': (text) => isDate(LOCAL_DATE_TIME.exec(text)?.[1] ?? ''),
  uri: (text) => URI.test(text) && URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const at = Date.parse(`${text}T00:00:00Z`)
  // 30 February would be 2 March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
