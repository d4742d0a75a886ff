import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { readRegularFile } from '../regular-file.js'
import { isLoopback, isSameOrigin, readBaseAddress, shownAddress } from './base-address.js'
import { TargetError } from './target-error.js'

const DEFAULT_BASE_URL = 'http://127.0.0.1:4010/v1'
const VARIABLE = 'PETSTORE_SANDBOX_URL'
const LOCATOR = '.petstore-sandbox/run.json'

/** Where the sandbox is, and how that is known. */
export interface SandboxAddress {
  readonly baseUrl: string
  readonly source: string
  /** What was passed over, and why. */
  readonly warning?: string
}

/**
 * Finds the sandbox: by the control plane's address in the environment, as `exec`
 * gives it to its command, by the locator in the working directory, then at the
 * default port. Nothing is sent.
 *
 * PETSTORE_BASE_URL alone decides nothing: it is what applications are configured
 * with, and may be that of production.
 */
export function findSandboxAddress(env: Readonly<Record<string, string | undefined>>, cwd: string): SandboxAddress {
  const controlUrl = env[VARIABLE] ?? ''
  if (controlUrl !== '') return { baseUrl: serviceBeside(controlUrl, env.PETSTORE_BASE_URL ?? ''), source: VARIABLE }
  const located = readLocator(cwd)
  if (located === undefined) return { baseUrl: DEFAULT_BASE_URL, source: 'default' }
  if ('baseUrl' in located) return { baseUrl: located.baseUrl, source: LOCATOR }
  return { baseUrl: DEFAULT_BASE_URL, source: 'default', warning: `${LOCATOR} ${located.problem}; it is passed over.` }
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

/**
 * What the locator says, undefined if there is none that can be read. It comes with
 * a folder, maybe a cloned one, so it is not believed when it leads to another machine.
 */
function readLocator(cwd: string): { readonly baseUrl: string } | { readonly problem: string } | undefined {
  let written: unknown
  try {
    written = JSON.parse(readRegularFile(join(cwd, LOCATOR)).toString())
  } catch {
    return undefined
  }
  const { baseUrl, pid } = Object(written) as { readonly baseUrl?: unknown; readonly pid?: unknown }
  const read = readBaseAddress(String(baseUrl))
  if ('problem' in read || !Number.isSafeInteger(pid)) return undefined
  if (!isOfThisMachine(read.baseUrl)) return { problem: `names ${read.baseUrl}, which is not on this machine` }
  if (!isRunning(Number(pid))) return { problem: `names ${read.baseUrl}, whose process is gone` }
  return read
}

function isOfThisMachine(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  const own = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
  return isLoopback(baseUrl) || ['0.0.0.0', '::', hostname().toLowerCase(), ...own].includes(host)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
