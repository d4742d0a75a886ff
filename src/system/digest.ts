/**
 * The SHA-256 of the concatenated parts, in base64.
 *
 * node:crypto is loaded on first use: few requests need it, and it loads slower than all of our own modules.
 */
export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64')
}
