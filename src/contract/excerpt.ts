/** So much of an input stands in a message, however much came. */
const LONGEST = 200

/** A text as a message shows it: whole if it is short, else its beginning. */
export function excerpt(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text
  // Never cut a surrogate pair in two.
  return `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Quoted values are cut to this length, so that messages stay readable. */
const LONGEST_QUOTE = 60

/** A value as shown in messages: short, and never a whole structure. */
export function quote(value: unknown): string {
  if (typeof value === 'string') {
    const shown = excerpt(value, LONGEST_QUOTE)
    return shown === value ? JSON.stringify(value) : `${JSON.stringify(shown.slice(0, -1))}…`
  }
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? 'a fraction' : 'too large'
  return excerpt(String(value), LONGEST_QUOTE)
}
