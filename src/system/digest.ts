/**
 * The SHA-256 of some parts, one after the other.
 *
 * node:crypto is loaded at the first one, which few requests need: at a start it
 * would take longer than all of the sandbox's own modules.
 */
export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64')
}
