/** So much of an input stands in a message, however much came. */
const LONGEST = 200

/** A text as a message shows it: whole if it is short, else its beginning. */
export function excerpt(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text
  // A pair of surrogates is not cut in two.
  return `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`
}
