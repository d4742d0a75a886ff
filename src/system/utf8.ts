export { isUtf8 } from 'node:buffer'

export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

/** Keeps a byte order mark. */
export function utf8Text(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8')
}

/** The UTF-8 bytes of a text as a string with a character for each, which Node writes without encoding it again. */
export function binaryOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}
