import { openingProblem, readRegularFile } from '../system/regular-file.js'
import { TargetError } from './target-error.js'

/** What a header can carry without further ado. */
const SENDABLE = /^[\x21-\x7e]+$/

/**
 * Checks a text that should be an API key, and takes off what stands round it.
 *
 * @param where how its origin is called; the text itself is never shown
 */
export function readKey(text: string, where: string): string {
  const key = text.trim()
  if (SENDABLE.test(key)) return key
  const problem =
    key === '' ? 'holds no API key' : 'must hold one API key of visible ASCII characters, and nothing else'
  throw new TargetError('INVALID_TARGET', `${where}: ${problem}`)
}

/**
 * Reads an API key from a file.
 *
 * @param where what named the file: `--api-key-file "key.txt"`
 */
export async function readKeyFile(file: string, where: string): Promise<string> {
  let text: string
  try {
    text = readRegularFile(file).toString()
  } catch (error) {
    throw new TargetError('INVALID_TARGET', `${where}: cannot be read (${openingProblem(error)})`, { cause: error })
  }
  return readKey(text, where)
}
