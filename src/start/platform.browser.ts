import type { Contract } from '../contract/contract.js'
import type { ContractEngine } from '../contract/engine.js'
import { packagedContract } from '../contract/packaged-contract.js'
import type { Upstream } from '../domain/upstream.js'
import type { CommandExecutor, OpenedStore } from '../executor/executor.js'
import type { RecordSeeds } from '../fixtures/load-fixtures.js'

export async function openContract(_file?: string, _options?: object): Promise<Contract> {
  return packagedContract()
}

/** The resources of the packaged contract have fixtures of their own. */
export async function openSeeds(..._given: readonly unknown[]): Promise<(seed: number) => RecordSeeds> {
  return () => ({})
}

export async function readHandlers(_file: string): Promise<Readonly<Record<string, unknown>>> {
  throw new Error('Files are not available in a browser.')
}

export type ReplicaOverrides = Readonly<Record<string, never>>

// Options that need these functions are refused earlier.

export async function createReplicaExecutor(..._given: readonly unknown[]): Promise<CommandExecutor> {
  throw new Error('Redis is not available in a browser.')
}

export async function openEngine(..._given: readonly unknown[]): Promise<ContractEngine> {
  throw new Error('Prism is not available in a browser.')
}

export async function openUpstream(..._given: readonly unknown[]): Promise<Upstream> {
  throw new Error('A sandbox in a browser has no upstream service.')
}

export async function openStore(..._given: readonly unknown[]): Promise<OpenedStore> {
  throw new Error('Files are not available in a browser.')
}
