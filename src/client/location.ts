import { hostname, networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { readRegularFile } from '../system/regular-file.js'
import { isLoopback, isSameOrigin, readBaseAddress } from './base-address.js'
import { LOCATOR, type Location } from './locator-file.js'
import { askHealth } from './sandbox-health.js'

/** It is some 200 bytes long. */
const LONGEST_LOCATOR = 64_000

/**
 * What the locator of a folder says, or else that of the nearest folder above it, as git finds its own;
 * undefined if there is none that can be read. It may be a lie: see `doubtOf`.
 */
export function readLocation(cwd: string): Location | undefined {
  const above = dirname(cwd)
  return locationIn(cwd) ?? (above === cwd ? undefined : readLocation(above))
}

function locationIn(folder: string): Location | undefined {
  try {
    const path = join(folder, LOCATOR)
    const said: { readonly [Field in keyof Location]?: unknown } = Object(
      JSON.parse(String(readRegularFile(path, LONGEST_LOCATOR))),
    )
    const service = readBaseAddress(String(said.baseUrl))
    const control = readBaseAddress(String(said.controlUrl))
    const { pid, startedAt } = said
    if ('problem' in service || 'problem' in control || typeof startedAt !== 'string') return undefined
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined
    return { baseUrl: service.baseUrl, controlUrl: control.baseUrl, pid, startedAt }
  } catch {
    return undefined
  }
}

/**
 * Why a locator is not to be believed; undefined if it is. It comes with a folder,
 * maybe a cloned one, and keys and tokens go where it leads: it must lead to this
 * machine, to a process that is there, and the sandbox there must be the one that it
 * tells of.
 */
export async function doubtOf({ baseUrl, controlUrl, pid, startedAt }: Location): Promise<string | undefined> {
  for (const url of [baseUrl, controlUrl]) {
    if (!isOfThisMachine(url)) return `names ${url}, which is not on this machine`
  }
  if (!isSameOrigin(baseUrl, controlUrl)) return `names ${baseUrl}, but a control plane elsewhere`
  if (!isOwnProcess(pid)) return `names ${baseUrl}, whose process is gone, or somebody else's`
  const health = await askHealth(controlUrl)
  if (health.kind === 'none') return `names ${baseUrl}, where nothing answers`
  if (health.kind === 'healthy' && health.pid === pid && health.startedAt === startedAt) return undefined
  return `names ${baseUrl}, where another one answers than it tells of`
}

function isOfThisMachine(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const own = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
  return isLoopback(url) || ['0.0.0.0', '::', hostname().toLowerCase(), ...own].includes(host)
}

/** Whether a process of whoever asks has this number now; one of somebody else may be anybody. */
export function isOwnProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
