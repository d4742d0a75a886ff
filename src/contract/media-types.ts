/** `Application/JSON; charset=utf-8` is `application/json`. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Whether a media type, or a range of them, may be JSON. */
export function isJsonType(mediaType: string): boolean {
  return /^(?:application\/(?:[^/]+\+)?json|text\/json|application\/\*|\*\/\*)$/.test(mediaType)
}

export function isXmlType(mediaType: string): boolean {
  return /[/+]xml$/.test(mediaType)
}

export function isFormType(mediaType: string): boolean {
  return mediaType === 'application/x-www-form-urlencoded' || mediaType === 'multipart/form-data'
}

/** Whether a media type is one of a documented range. */
export function isInRange(range: string, mediaType: string): boolean {
  if (range === '*/*') return true
  const [start = '', end] = range.split('*')
  return end === undefined ? range === mediaType : mediaType.startsWith(start) && mediaType.endsWith(end)
}

/** The type that a response has: a range of JSON is `application/json`. */
export function concreteType(mediaType: string): string {
  if (!mediaType.includes('*')) return mediaType
  return /^text\/\*/.test(mediaType) ? 'text/plain' : 'application/json'
}

/** @source RFC 7396 */
export function isMergePatch(mediaType: string): boolean {
  return mediaType === 'application/merge-patch+json'
}
