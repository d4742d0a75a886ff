import { describeOpenError, readInput } from '../system/regular-file.js'
import { TargetError } from './errors.js'

/** Bytes. A key has some dozens. */
const MAX_KEY_FILE = 64_000

/** @param where names its source in errors; the key itself is never shown */
export function readKey(text: string, where: string): string {
  const key = text.trim()
  // Characters that a header can carry.
  if (/^[\x21-\x7e]+$/.test(key)) return key
  const problem = key === '' ? 'contains no API key' : 'must contain a single API key of visible ASCII characters'
  throw new TargetError('INVALID_TARGET', `${where}: ${problem}`)
}

export async function readKeyFile(file: string, where: string): Promise<string> {
  let text: string
  try {
    text = readInput(file, MAX_KEY_FILE).toString()
  } catch (error) {
    throw new TargetError('INVALID_TARGET', `${where}: cannot be read (${describeOpenError(error)})`, { cause: error })
  }
  return readKey(text, where)
}
