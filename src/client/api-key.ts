import type { FailureCode } from '../domain/failures.js'
import { describeOpenError, readInput } from '../system/regular-file.js'
import { TargetError } from './errors.js'

/** Bytes. A key has some dozens. */
const MAX_KEY_FILE = 64_000

interface Secret {
  readonly name: string
  readonly code: FailureCode
}
const API_KEY: Secret = { name: 'API key', code: 'INVALID_TARGET' }

/** @param where names its source in errors; the key itself is never shown */
export function readKey(text: string, where: string, { name, code } = API_KEY): string {
  const key = text.trim()
  // Characters that a header can carry.
  if (/^[\x21-\x7e]+$/.test(key)) return key
  const problem = key === '' ? `contains no ${name}` : `must contain a single ${name} of visible ASCII characters`
  throw new TargetError(code, `${where}: ${problem}`)
}

export async function readKeyFile(file: string, where: string, what = API_KEY): Promise<string> {
  let text: string
  try {
    text = readInput(file, MAX_KEY_FILE).toString()
  } catch (error) {
    throw new TargetError(what.code, `${where}: cannot be read (${describeOpenError(error)})`, { cause: error })
  }
  return readKey(text, where, what)
}
