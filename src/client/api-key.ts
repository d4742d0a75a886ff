import { openingProblem, readInput } from '../system/regular-file.js'
import { TargetError } from './target-error.js'

/** Characters that a header can carry as they are. */
const SENDABLE = /^[\x21-\x7e]+$/

/**
 * Checks a string that should be an API key, and trims it.
 *
 * @param where names its origin in errors; the string itself is never shown
 */
export function readKey(text: string, where: string): string {
  const key = text.trim()
  if (SENDABLE.test(key)) return key
  const problem = key === '' ? 'contains no API key' : 'must contain a single API key of visible ASCII characters'
  throw new TargetError('INVALID_TARGET', `${where}: ${problem}`)
}

/** In bytes. A key has some dozens. */
const LARGEST_KEY_FILE = 64_000

/**
 * Reads an API key from a file.
 *
 * @param where what named the file: `--api-key-file "key.txt"`
 */
export async function readKeyFile(file: string, where: string): Promise<string> {
  let text: string
  try {
    text = readInput(file, LARGEST_KEY_FILE).toString()
  } catch (error) {
    throw new TargetError('INVALID_TARGET', `${where}: cannot be read (${openingProblem(error)})`, { cause: error })
  }
  return readKey(text, where)
}
