/** C0 and C1 controls, line and paragraph separators, and marks that change the writing direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same without line ends, tabs, and the colours that we use. */
const DRIVERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
  /(?!\u001b\[(?:[12]|2[12]|3[1-6]|39)m)[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes foreign text, so that it cannot forge a second line or control the terminal. JSON keeps its meaning. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escaped)
}

export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

export function hasControls(text: string): boolean {
  return escapeLines(text) !== text
}

/** The last safeguard before output: a field that was not escaped can do no more than set a colour. */
export function escapeDrivers(text: string): string {
  return text.replace(DRIVERS, escaped)
}

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** A line of text for XML and HTML, with control characters escaped. Lone surrogates become U+FFFD. */
export function xmlText(text: string): string {
  const held = escapeControls(text).replace(/[\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
  return held.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
