import { resolve } from 'node:path'
import { openingProblem, readInput } from '../../system/regular-file.js'
import type { CliIo } from '../io.js'
import { UsageError } from './errors.js'

const VARIABLE = 'PETSTORE_SANDBOX_CONTROL_TOKEN'
/** Characters that a header can carry as they are. */
const SENDABLE = /^[\x21-\x7e]+$/

/** How to provide a token, for callers that were refused without one. */
export const TOKEN_HINT = `Give it in ${VARIABLE} or with --token-file.`

/**
 * The token of the control plane, from a file or from the environment. There is no
 * flag for the token itself: flags show in process lists and histories.
 */
export function readToken(file: string | undefined, { env, cwd }: CliIo): string | undefined {
  const where = file === undefined ? VARIABLE : '--token-file'
  const text = file === undefined ? env[VARIABLE] : contentOf(file, cwd)
  if (file === undefined && (text === undefined || text === '')) return undefined
  if (text === undefined || !SENDABLE.test(text)) {
    throw new UsageError(`${where}: must contain a single token of visible ASCII characters`)
  }
  return text
}

/** In bytes. A token has some dozens. */
const LARGEST_TOKEN_FILE = 64_000

function contentOf(file: string, cwd: string): string {
  try {
    return readInput(resolve(cwd, file), LARGEST_TOKEN_FILE).toString().trim()
  } catch (error) {
    throw new UsageError(`--token-file ${JSON.stringify(file)}: cannot be read (${openingProblem(error)})`)
  }
}
