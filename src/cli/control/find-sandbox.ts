import { readlinkSync } from 'node:fs'
import { shellCommand } from '../../advice/curl.js'
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
  /** Known without the token of the control plane. */
  readonly baseUrl?: string
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
  if (problem === undefined) return { ...at(located.controlUrl, `by ${LOCATOR}`), baseUrl: located.baseUrl }
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
  const address = found === controlUrl ? [] : ['--url', controlUrl.slice(0, -CONTROL_PATH.length)]
  return shellCommand('npx', 'petstore-sandbox', 'control', ...address)
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

const TIMEOUT_MS = 1000

interface Address {
  readonly host: string
  readonly port: number
}

export async function withPortHolder(failure: Failure, { host, port }: Address, io: CliIo): Promise<Failure> {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  const controlUrl = `http://${address}:${port}${CONTROL_PATH}`
  const health = await checkHealth(controlUrl, TIMEOUT_MS)
  if (health.kind !== 'healthy') return failure
  const { pid } = health
  const folder = typeof pid === 'number' ? folderOf(pid) : undefined
  const who = ['petstore-sandbox', ...(typeof pid === 'number' ? [`pid ${pid}`] : []), ...(folder ?? [])].join(', ')
  return new Failure(
    'PORT_IN_USE',
    `Port ${port} of ${host} is in use by ${who}. Stop it with: ${controlCommand(controlUrl, io)} stop; or choose another port with --port, or 0 for any free one.`,
    { cause: failure },
  )
}

/** The working directory of an own process, on Linux. @source proc(5), /proc/pid/cwd */
function folderOf(pid: number): readonly string[] | undefined {
  try {
    return [readlinkSync(`/proc/${pid}/cwd`)]
  } catch {
    return undefined
  }
}
