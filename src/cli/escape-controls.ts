/**
 * What drives a terminal or breaks a line: C0 and C1 controls, line and paragraph
 * separators, and marks that turn the writing direction.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same, but for line ends, tabs, and the few colours that we use ourselves. */
const DRIVERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
  /(?!\u001b\[(?:[12]|2[12]|3[1-6]|39)m)[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Makes a text from outside safe to print: no client can forge a second line or
 * move the cursor. What is left means the same inside a JSON text.
 *
 * Every field that comes from elsewhere (an answer, a file, an argument) goes through here.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escaped)
}

/** The same for a text of several lines. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

/** Whether a text would be changed; line ends do not count. */
export function hasControls(text: string): boolean {
  return escapeLines(text) !== text
}

/**
 * The net below: whatever is written passes it last, so that a field which was
 * forgotten can colour a word, and do nothing else to a terminal.
 */
export function escapeDrivers(text: string): string {
  return text.replace(DRIVERS, escaped)
}

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
}
