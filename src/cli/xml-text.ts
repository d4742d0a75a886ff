import { escapeControls } from './escape-controls.js'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** One line of text for XML and HTML. Control characters are escaped, unpaired surrogates become U+FFFD. */
export function xmlText(text: string): string {
  const held = escapeControls(text).replace(/[\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
  return held.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
