import { checkHealth } from '../../client/control-fetch.js'
import { locationProblem, readLocation } from '../../client/location.js'
import { LOCATOR } from '../../client/locator-file.js'
import { CONTROL_PATH, readControlUrl } from '../../control/path.js'
import { shownAddress } from '../../domain/base-address.js'
import { Failure } from '../../domain/failures.js'
import type { CliIo } from '../io.js'

const DEFAULT_URL = `http://127.0.0.1:4010${CONTROL_PATH}`
const VARIABLE = 'PETSTORE_SANDBOX_URL'

export interface FoundSandbox {
  readonly controlUrl: string
  readonly how: string
  readonly pid?: number
  /** It was neither named nor started in this folder, so it is only read. */
  readonly isDefault?: true
  readonly note?: string
}

/** By `--url`, the environment, the locator in the folder, then the default port. @throws Failure NO_SANDBOX, USAGE */
export async function findSandbox(url: string | undefined, { env, cwd }: CliIo): Promise<FoundSandbox> {
  const located = readLocation(cwd)
  const at = (controlUrl: string, how: string): FoundSandbox => ({
    controlUrl,
    how,
    ...(located?.controlUrl === controlUrl ? { pid: located.pid } : {}),
  })
  if (url !== undefined) return at(readUrl(url, '--url'), 'by --url')
  const fromEnv = env[VARIABLE]
  if (fromEnv !== undefined && fromEnv !== '') return at(readUrl(fromEnv, VARIABLE), `by ${VARIABLE}`)
  if (located === undefined) {
    return { controlUrl: DEFAULT_URL, how: `the default, as ${LOCATOR} is missing here`, isDefault: true }
  }
  const problem = await locationProblem(located)
  if (problem === undefined) return at(located.controlUrl, `by ${LOCATOR}`)
  const ignored = `${LOCATOR} ${problem}`
  if ((await checkHealth(DEFAULT_URL)).kind === 'none') throw noSandbox(noSandboxAt(DEFAULT_URL, ignored))
  return {
    controlUrl: DEFAULT_URL,
    how: 'the default',
    isDefault: true,
    note: `${ignored}; ${DEFAULT_URL} is used.`,
  }
}

export function controlCommand(controlUrl: string, { env, cwd }: Pick<CliIo, 'env' | 'cwd'>): string {
  const named = env[VARIABLE] ?? ''
  const found = named === '' ? readLocation(cwd)?.controlUrl : readControlUrl(named)
  return `npx petstore-sandbox control${found === controlUrl ? '' : ` --url ${controlUrl.slice(0, -CONTROL_PATH.length)}`}`
}

export function noSandboxAt(controlUrl: string, how: string): string {
  return `No sandbox is running at ${controlUrl} (${how}). Start one with "npx petstore-sandbox serve", or give its address with --url or ${VARIABLE}.`
}

function readUrl(text: string, where: string): string {
  const controlUrl = readControlUrl(text)
  if (controlUrl !== undefined) return controlUrl
  const form = 'must be the address of a sandbox, for example http://127.0.0.1:4010, without user, password and query'
  throw new Failure('USAGE', `${where} ${shownAddress(text)}: ${form}`)
}

export function noSandbox(message: string, cause?: unknown): Failure {
  return new Failure('NO_SANDBOX', message, { cause })
}
