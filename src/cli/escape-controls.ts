/**
 * What drives a terminal or breaks a line: C0 and C1 controls, line and paragraph
 * separators, and marks that turn the writing direction.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Makes a text from outside safe to print: no client can forge a second line or
 * move the cursor. What is left means the same inside a JSON text.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
