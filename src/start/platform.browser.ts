import type { Contract } from '../contract/contract.js'
import type { ContractEngine } from '../contract/engine.js'
import { packagedContract } from '../contract/packaged-contract.js'
import type { Upstream } from '../domain/upstream.js'
import type { CommandExecutor, OpenedStore } from '../executor/executor.js'
import type { RecordSeeds } from '../fixtures/load-fixtures.js'
import type { ResolvedOptions } from '../options/resolve.js'

export async function openContract(_file?: string, _options?: object): Promise<Contract> {
  return packagedContract()
}

/** Without a folder of fixtures. @throws Failure CANNOT_GENERATE */
export async function openSeeds(options: ResolvedOptions, contract: Contract): Promise<(seed: number) => RecordSeeds> {
  if (options.generate.length === 0) return () => ({})
  const { generatedSeeds } = await import('../fixtures/generate-records.js')
  return generatedSeeds(options, contract, {}, () => 'generate')
}

export async function readHandlers(_file: string): Promise<Readonly<Record<string, unknown>>> {
  throw new Error('Files are not available in a browser.')
}

export type ReplicaOverrides = Readonly<Record<string, never>>

// Options that need these functions are refused earlier.

export async function createReplicaExecutor(..._given: readonly unknown[]): Promise<CommandExecutor> {
  throw new Error('Redis is not available in a browser.')
}

export async function openEngine(contract: Contract): Promise<ContractEngine> {
  return (await import('../contract/choose-response.js')).openChooser(contract)
}

export async function openUpstream(..._given: readonly unknown[]): Promise<Upstream> {
  throw new Error('A sandbox in a browser has no upstream service.')
}

export async function openStore(..._given: readonly unknown[]): Promise<OpenedStore> {
  throw new Error('Files are not available in a browser.')
}
