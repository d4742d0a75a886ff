import type { Applier, KeptState } from './applier.js'
import type { Contract } from './contract/contract.js'
import type { ClosableEngine } from './contract/engine.js'
import { packagedContract } from './contract/packaged-contract.js'
import type { RealService } from './core/real-service.js'

export async function openContract(_file?: string, _options?: object): Promise<Contract> {
  return packagedContract()
}

export type ReplicaDoors = Readonly<Record<string, never>>

// Who asks for these has options that a sandbox in a browser refuses before it is put together.

export async function joinGroup(..._given: readonly unknown[]): Promise<Applier> {
  throw new Error('A browser has no way to Redis.')
}

export async function openEngine(..._given: readonly unknown[]): Promise<ClosableEngine> {
  throw new Error('A browser has no Prism.')
}

export async function openUpstream(..._given: readonly unknown[]): Promise<RealService> {
  throw new Error('A sandbox in a browser sends nothing on.')
}

export async function openStore(..._given: readonly unknown[]): Promise<KeptState> {
  throw new Error('A browser has no disk.')
}
