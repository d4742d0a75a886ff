import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CliIo } from '../io.js'
import { UsageError } from './errors.js'

const VARIABLE = 'PETSTORE_SANDBOX_CONTROL_TOKEN'
/** What a header can carry without further ado. */
const SENDABLE = /^[\x21-\x7e]+$/

/** How a token is given, for whoever was refused without one. */
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
    throw new UsageError(`${where}: must hold one token of visible ASCII characters, and nothing else`)
  }
  return text
}

function contentOf(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--token-file ${JSON.stringify(file)}: cannot be read (${code})`)
  }
}
