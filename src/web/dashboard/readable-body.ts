const INDENT = '  '
/** A text, a bracket, a comma or colon, or a number or word: what JSON is made of, but for blanks. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g

/**
 * A body in readable form: JSON indented, anything else (or incomplete JSON) as it is.
 * Only whitespace changes, so everything else shows as the client wrote it: 1.0, repeated names, every digit.
 */
export function readableBody(body: string): string {
  if (!isJson(body)) return body
  let text = ''
  let depth = 0
  let before = ''
  for (const [token] of body.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']'
    if (closes) depth--
    const isEmptyPair = closes && (before === '{' || before === '[')
    const startsLine = (closes && !isEmptyPair) || (!closes && (before === '{' || before === '[' || before === ','))
    text += (startsLine ? `\n${INDENT.repeat(depth)}` : '') + token + (token === ':' ? ' ' : '')
    if (token === '{' || token === '[') depth++
    before = token
  }
  return text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
