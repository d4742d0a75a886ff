import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Contract } from '../contract/contract.js'
import type { ContractEngine } from '../contract/engine.js'
import type { ApiKey } from '../domain/keys.js'
import { type Bytes, formatSize, MIB } from '../domain/numbers.js'
import type { Upstream } from '../domain/upstream.js'
import type { OpenedStore } from '../executor/executor.js'
import type { RecordSeeds } from '../fixtures/load-fixtures.js'
import { recordSeeds } from '../fixtures/record-seeds.js'
import { OptionsError } from '../options/options.js'
import { locateOption, type ResolvedOptions } from '../options/resolve.js'
import { openFileStore } from '../store/file-store.js'
import { Layout } from '../store/layout.js'
import { SnapshotFolder } from '../store/snapshot-folder.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'

// Parts that need a disk, sockets or threads. Browsers get platform.browser.ts instead. All but the store load on first use.

export { openContract } from '../openapi/open-contract.js'
export type { ReplicaOverrides } from '../replication/replica.js'

export const createReplicaExecutor: typeof import('../replication/replica.js').createReplicaExecutor = async (
  ...given
) => (await import('../replication/replica.js')).createReplicaExecutor(...given)

/** The records that spaces start with, for a seed. @throws Failure CANNOT_GENERATE */
export async function openSeeds(options: ResolvedOptions, contract: Contract): Promise<(seed: number) => RecordSeeds> {
  const seeds = recordSeeds(
    contract,
    options.fixtures,
    options.generate.map(({ resource }) => resource),
  )
  if (options.generate.length === 0) return () => seeds
  const { generatedSeeds } = await import('../fixtures/generate-records.js')
  return generatedSeeds(options, contract, seeds, (index) => locateOption(options, 'generate', index))
}

/**
 * The functions of a module, by name. A module that has changed is read again, but not what it imports.
 * @throws OptionsError
 */
export async function readHandlers(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const url = pathToFileURL(file)
    url.searchParams.set('changed', String(statSync(file).mtimeMs))
    const { default: others, ...named } = (await import(url.href)) as Readonly<Record<string, unknown>>
    return { ...Object(others), ...named }
  } catch (error) {
    const isTypeScript = Object(error).code === 'ERR_UNKNOWN_FILE_EXTENSION'
    const isScript = /Unexpected token 'export'/.test(messageOf(error))
    const why = isTypeScript
      ? 'this version of Node does not read TypeScript; use .js'
      : isScript
        ? 'Node reads it as CommonJS; name it .mjs, or set "type": "module" in package.json'
        : messageOf(error)
    throw new OptionsError([`--handlers "${file}": the module cannot be loaded: ${why}`])
  }
}

export async function openEngine(contract: Contract): Promise<ContractEngine> {
  const { openPrism } = await import('../contract/prism.js')
  return openPrism(contract)
}

export async function openUpstream(
  baseUrl: string,
  options: ResolvedOptions,
  { keyHeaders }: Contract,
  warn: (message: string) => void,
): Promise<Upstream> {
  const { openUpstream } = await import('../client/upstream.js')
  return openUpstream({
    baseUrl,
    keyHeader: keyHeaders[0],
    apiKeyFile: options.upstreamApiKeyFile,
    writes: options.upstreamWrites,
    timeout: options.upstreamTimeout,
    env: process.env,
    warn,
  })
}

export async function openStore(
  file: string,
  { fsync, maxStore, reset }: ResolvedOptions,
  { resources }: Contract,
  keys: readonly ApiKey[],
  { warn, progress }: { warn(message: string): void; progress(text: string): void },
): Promise<OpenedStore> {
  for (const path of [file, `${file}.journal`]) {
    const size = sizeOf(path)
    if (size >= LARGE_FILE) progress(`Reading "${path}" (${formatSize(Math.floor(size / MIB) * MIB)}) …`)
  }
  const layout = new Layout(resources, keys)
  const given = { fsync, reset, maxBytes: maxStore, warn, now: systemClock.wall, layout }
  const { state, store } = await openFileStore(file, given)
  const snapshots = new SnapshotFolder(file, fsync, layout)
  return {
    state,
    store,
    snapshots,
    async begin(stateNow) {
      const upgraded = await snapshots.upgrade()
      try {
        store.start(stateNow)
        upgraded.commit()
      } finally {
        upgraded.discard()
      }
    },
    close: () => store.close(),
  }
}

/** Smaller files load without a progress message. */
const LARGE_FILE: Bytes = 10 * MIB

function sizeOf(file: string): Bytes {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    // Opening the file reports the problem.
    return 0
  }
}
