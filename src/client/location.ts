import { lstatSync, type Stats, statSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { isLoopback, isSameOrigin, readBaseAddress } from '../domain/base-address.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { readRegularFile } from '../system/regular-file.js'
import { checkHealth } from './control-fetch.js'
import { isProcessAlive, isRunning, LOCATOR, type Location, locationsIn } from './locator-file.js'

const MAX_LOCATOR = 64_000

/** A sandbox loads its control plane for the first request, which can take seconds on a busy machine. */
const FIRST_RESPONSE_MS: DurationMs = 10 * SECOND_MS

/**
 * In this folder or the nearest one above, up to one of another user. The content may be wrong: see `locationProblem`.
 */
export function readLocation(cwd: string): Location | undefined {
  const above = dirname(cwd)
  return locationIn(cwd) ?? (above === cwd || !isOwn(statSync(above)) ? undefined : readLocation(above))
}

function isOwn({ uid }: Stats): boolean {
  // Windows has no user ids.
  return process.getuid === undefined || uid === process.getuid()
}

/** Another user could plant a locator, to receive the keys and control tokens that are sent to its address. */
function isTrusted(path: string): boolean {
  const stats = lstatSync(path)
  const isWritableByOthers = process.platform !== 'win32' && (stats.mode & 0o022) !== 0
  return isOwn(stats) && !stats.isSymbolicLink() && !isWritableByOthers
}

function locationIn(folder: string): Location | undefined {
  const file = join(folder, LOCATOR)
  try {
    if (!isTrusted(dirname(file)) || !isTrusted(file)) return undefined
    const text = String(readRegularFile(file, MAX_LOCATOR))
    const all = locationsIn(JSON.parse(text))
    const read: { readonly [Field in keyof Location]?: unknown } = all.find(isRunning) ?? Object(all[0])
    const service = readBaseAddress(String(read.baseUrl))
    const control = readBaseAddress(String(read.controlUrl))
    const { pid, startedAt } = read
    if ('problem' in service || 'problem' in control || typeof startedAt !== 'string') return undefined
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined
    return { baseUrl: service.value, controlUrl: control.value, pid, startedAt }
  } catch {
    return undefined
  }
}

/**
 * Why a locator cannot be trusted; undefined if it can. It may have come with a cloned folder, and keys and tokens go
 * to its address: that must be on this machine, its process must run, and the sandbox there must be the same one.
 */
export async function locationProblem(
  { baseUrl, controlUrl, pid, startedAt }: Location,
  limit: DurationMs = FIRST_RESPONSE_MS,
): Promise<string | undefined> {
  const foreign = [baseUrl, controlUrl].find((url) => !isOfThisMachine(url))
  if (foreign !== undefined) return `names ${foreign}, which is not on this machine`
  if (!isSameOrigin(baseUrl, controlUrl)) return `names ${baseUrl}, but a control plane elsewhere`
  if (!isProcessAlive(pid)) return `names ${baseUrl}, whose process has ended or belongs to another user`
  const health = await checkHealth(controlUrl, Math.min(limit, FIRST_RESPONSE_MS))
  if (health.kind === 'none') return `names ${baseUrl}, where no server responds`
  if (health.kind === 'healthy' && health.pid === pid && health.startedAt === startedAt) return undefined
  return `names ${baseUrl}, where a different sandbox is running`
}

function isOfThisMachine(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const own = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
  return isLoopback(url) || ['0.0.0.0', '::', hostname().toLowerCase(), ...own].includes(host)
}
