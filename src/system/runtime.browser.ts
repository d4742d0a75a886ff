import { sha256 } from '@noble/hashes/sha2.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strict = new TextDecoder('utf-8', { fatal: true })

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function binaryOf(text: string): string {
  let binary = ''
  for (const byte of encoder.encode(text)) binary += String.fromCharCode(byte)
  return binary
}

/** Without Web Crypto, which is asynchronous, and missing in pages without HTTPS. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = sha256.create()
  for (const part of parts) hash.update(typeof part === 'string' ? encoder.encode(part) : part)
  return btoa(String.fromCharCode(...hash.digest()))
}

/** Writes values as JSON, which YAML allows: the library would be half as large as the sandbox. */
function stringify(content: object): string {
  return Object.entries(content)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')
}

export function loadYaml(): typeof import('yaml') {
  return { stringify } as typeof import('yaml')
}
