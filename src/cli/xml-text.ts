import { escapeControls } from './escape-controls.js'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** One line of text in XML. What XML cannot hold at all is left out: controls become visible, half characters a mark. */
export function xmlText(text: string): string {
  const held = escapeControls(text).replace(/[\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
  return held.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** An attribute's value, in its quotes. */
export function xmlQuoted(text: string): string {
  return `"${xmlText(text)}"`
}
