const MAX_LENGTH = 200

export function excerpt(text: string, longest = MAX_LENGTH): string {
  if (text.length <= longest) return text
  // Do not cut a surrogate pair.
  return `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`
}

const MAX_QUOTE_LENGTH = 60

/** A value for messages: short, and never a whole structure. */
export function quote(value: unknown): string {
  if (typeof value === 'string') {
    const shown = excerpt(value, MAX_QUOTE_LENGTH)
    return shown === value ? JSON.stringify(value) : `${JSON.stringify(shown.slice(0, -1))}…`
  }
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? 'a fraction with too many digits to be kept' : 'too large'
  return excerpt(String(value), MAX_QUOTE_LENGTH)
}
