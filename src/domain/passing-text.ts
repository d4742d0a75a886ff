const LAST_DIGITS: string[] = []

/**
 * A count as text, for one that is another each time.
 *
 * `String` puts the text of a number into a cache of V8's, where it outlives the scavenges of its time: 24 bytes a
 * request for the old generation. Here only the thousands come from there.
 *
 * @param count a whole number, at least 0
 */
export function passingText(count: number): string {
  if (count < 1000) return String(count)
  const last = count % 1000
  LAST_DIGITS[last] ??= String(last).padStart(3, '0')
  return `${Math.floor(count / 1000)}${LAST_DIGITS[last]}`
}
