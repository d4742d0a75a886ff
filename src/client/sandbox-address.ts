import type { Environment } from '../system/environment.js'
import { isSameOrigin, readBaseAddress, shownAddress } from './base-address.js'
import { doubtOf, readLocation } from './location.js'
import { LOCATOR } from './locator-file.js'
import { TargetError } from './target-error.js'

const DEFAULT_BASE_URL = 'http://127.0.0.1:4010/v1'
const VARIABLE = 'PETSTORE_SANDBOX_URL'

/** Where the sandbox is, and where that came from. */
export interface SandboxAddress {
  readonly baseUrl: string
  readonly source: string
  /** What was ignored, and why. */
  readonly warning?: string
}

/**
 * Finds the sandbox: by the control plane's address in the environment, as `exec`
 * gives it to its command, by the locator in the working directory, then at the
 * default port. A locator is asked for its sandbox's health, and for nothing else.
 *
 * PETSTORE_BASE_URL alone decides nothing: it is what applications are configured
 * with, and may be that of production.
 */
export async function findSandboxAddress(env: Environment, cwd: string): Promise<SandboxAddress> {
  const controlUrl = env[VARIABLE] ?? ''
  if (controlUrl !== '') return { baseUrl: serviceBeside(controlUrl, env.PETSTORE_BASE_URL ?? ''), source: VARIABLE }
  const located = readLocation(cwd)
  if (located === undefined) return { baseUrl: DEFAULT_BASE_URL, source: 'default' }
  const doubt = await doubtOf(located)
  if (doubt === undefined) return { baseUrl: located.baseUrl, source: LOCATOR }
  return { baseUrl: DEFAULT_BASE_URL, source: 'default', warning: `${LOCATOR} ${doubt}; it is ignored.` }
}

function serviceBeside(controlUrl: string, baseUrl: string): string {
  const control = readBaseAddress(controlUrl)
  if ('problem' in control) {
    throw new TargetError('INVALID_TARGET', `${VARIABLE} ${shownAddress(controlUrl)}: ${control.problem}`)
  }
  const service = readBaseAddress(baseUrl)
  if ('baseUrl' in service && isSameOrigin(service.baseUrl, control.baseUrl)) return service.baseUrl
  return new URL('/v1', control.baseUrl).href
}
