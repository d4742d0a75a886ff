import { escapeControls } from './escape-controls.js'

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
