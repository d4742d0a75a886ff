/** SHA-256 in base64. node:crypto loads on first use: it is slower to load than all of our own modules. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64')
}
