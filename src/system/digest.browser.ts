// Web Crypto is asynchronous, and missing in pages without HTTPS.
import { sha256 } from '@noble/hashes/sha2.js'

const encoder = new TextEncoder()

export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = sha256.create()
  for (const part of parts) hash.update(typeof part === 'string' ? encoder.encode(part) : part)
  return btoa(String.fromCharCode(...hash.digest()))
}
