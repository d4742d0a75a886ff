import { createRequire } from 'node:module'

export { isUtf8 } from 'node:buffer'

/** SHA-256 in base64. node:crypto loads on first use: it is slower to load than all of our own modules. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64')
}

const PACKAGE = import.meta.url.endsWith('.ts') ? 'yaml' : './yaml.cjs'

/** Loads the YAML library on demand, and synchronously, because options are read synchronously. */
export function loadYaml(): typeof import('yaml') {
  return createRequire(import.meta.url)(PACKAGE)
}

export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

let lastBytes: Uint8Array | undefined
let lastText = ''

/** Without a byte order mark. Kept, because an operation, the log and conduct read the same body. @param bytes do not change */
export function utf8Text(bytes: Uint8Array): string {
  if (bytes === lastBytes) return lastText
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString('utf8')
  lastText = text.startsWith('\ufeff') ? text.slice(1) : text
  lastBytes = bytes
  return lastText
}

/** The UTF-8 bytes of a text as a string with a character for each, which Node writes without encoding it again. */
export function binaryOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}
