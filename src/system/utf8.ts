export { isUtf8 } from 'node:buffer'

/** Bytes that a text has in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

/** The text that bytes of UTF-8 are, a byte order mark included. */
export function utf8Text(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8')
}

/** The bytes of a text in UTF-8, each as one character: what Node writes to a socket without encoding it again. */
export function binaryOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}
