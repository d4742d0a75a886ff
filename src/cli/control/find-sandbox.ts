import { doubtOf, readLocation } from '../../client/location.js'
import { LOCATOR } from '../../client/locator-file.js'
import { askHealth } from '../../client/sandbox-health.js'
import { CONTROL_PATH } from '../../control/path.js'
import type { CliIo } from '../io.js'
import { NoSandboxError, UsageError } from './errors.js'

const DEFAULT_URL = `http://127.0.0.1:4010${CONTROL_PATH}`
const VARIABLE = 'PETSTORE_SANDBOX_URL'

/** The control plane to talk to. */
export interface Found {
  /** `http://127.0.0.1:4010/__sandbox` */
  readonly controlUrl: string
  /** How it was found, to explain why nothing answers there. */
  readonly how: string
  /** Its process, where that is known. */
  readonly pid?: number
  /** A note to print before it is used. */
  readonly note?: string
}

/**
 * Finds the running sandbox: by `--url`, the environment, the locator in the
 * working directory, then at the default port. What was said explicitly is taken
 * at its word; a locator is passed over if it cannot be believed: its sandbox was
 * killed, or it came with a folder from elsewhere.
 *
 * @throws NoSandboxError if neither locator nor default lead to one
 * @throws UsageError if the address is none
 */
export async function findSandbox(url: string | undefined, { env, cwd }: CliIo): Promise<Found> {
  const located = readLocation(cwd)
  const at = (controlUrl: string, how: string): Found => ({
    controlUrl,
    how,
    ...(located?.controlUrl === controlUrl ? { pid: located.pid } : {}),
  })
  if (url !== undefined) return at(readUrl(url, '--url'), 'by --url')
  const fromEnv = env[VARIABLE]
  if (fromEnv !== undefined && fromEnv !== '') return at(readUrl(fromEnv, VARIABLE), `by ${VARIABLE}`)
  if (located === undefined) return at(DEFAULT_URL, `the default, as there is no ${LOCATOR} here`)
  const doubt = await doubtOf(located)
  if (doubt === undefined) return at(located.controlUrl, `by ${LOCATOR}`)
  const passedOver = `${LOCATOR} ${doubt}`
  if ((await askHealth(DEFAULT_URL)).kind === 'none') throw new NoSandboxError(nobodyAt(DEFAULT_URL, passedOver))
  return { controlUrl: DEFAULT_URL, how: 'the default', note: `${passedOver}; ${DEFAULT_URL} is used.` }
}

/** One line saying where a sandbox was looked for, and what to do. */
export function nobodyAt(controlUrl: string, how: string): string {
  return `Nothing answers at ${controlUrl} (${how}). Start one with "petstore-sandbox serve", or say where it is with --url or ${VARIABLE}.`
}

/** Reads the address of a control plane; the server's address is enough. */
function readUrl(text: string, where: string): string {
  const form = `must be the address of a control plane, for example ${DEFAULT_URL}`
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new UsageError(`${where} ${JSON.stringify(text)}: ${form}`)
  }
  if (url.username !== '' || url.password !== '') throw new UsageError(`${where}: ${form}, without user and password`)
  const path = url.pathname.replace(/\/+$/, '')
  const isKnown = path === '' || path.endsWith(CONTROL_PATH)
  if (!/^https?:$/.test(url.protocol) || !isKnown || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${where} ${JSON.stringify(text)}: ${form}`)
  }
  return url.origin + (path === '' ? CONTROL_PATH : path)
}
