import type { RealService } from './client/real-service.js'
import type { Contract } from './contract/contract.js'
import type { Health } from './control/routes.js'
import type { ControlTarget } from './control/verb.js'
import type { RequestCommand } from './core/command.js'
import type { Spaces } from './core/spaces.js'
import type { EndedExchange, ExchangeRef, PendingReply } from './domain/messages.js'
import type { Pet } from './domain/pets.js'
import type { SpaceStart } from './domain/space-start.js'
import type { SpaceState } from './domain/state.js'
import type { EpochMs } from './domain/time.js'
import type { ResolvedOptions } from './options/options.js'
import type { ReplicaParts } from './replication/replica.js'
import type { Keeper } from './store/keeper.js'
import type { Reader } from './store/shape.js'

/** Who applies commands: this sandbox by itself, or the group of which it is a replica. */
export interface Applier {
  readonly spaces: Spaces
  /** What spaces start from, as its files are now. */
  readSeed(): SpaceState
  /** @param left gives what is aborted when its client has left */
  answer(command: Omit<RequestCommand, 'kind'>, wall?: EpochMs, left?: () => AbortSignal): PendingReply
  /** Makes room for the body of a request, if something has to be done for it. */
  makeRoom(bytes: number): Promise<void> | undefined
  /** Waits until everything that replies may tell of is kept; undefined if it is. Never rejects. */
  settle(): Promise<void> | undefined
  /** Hears what became of replies. @returns the position of that command, by which senders are said to have heard it */
  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number
  readonly target: Pick<ControlTarget, 'change' | 'read' | 'replicas' | 'snapshotsOf'>
  health(): Health
  /** The port is open at an address; empty for none. */
  begin(address: string): Promise<void>
  close(): Promise<void>
}

/** What a sandbox by itself and a replica are made of. */
export interface Ground {
  readonly options: ResolvedOptions
  readonly contract: Contract
  readonly readPet: Reader<Pet> | undefined
  readonly startedAt: EpochMs
  /** The real service that it stands in front of, if it does. */
  readonly upstream: RealService | undefined
  /** Opens all spaces as they start. @param kept what was stored or carried over, if anything was */
  open(how: SeedAndStart, at: EpochMs, seed: SpaceState, kept?: Kept): Spaces
  warn(message: string): void
}

/** What a replica reaches outside; a test has its own. */
export interface ReplicaDoors extends Partial<Pick<ReplicaParts, 'openLog' | 'openHeard'>> {}

/** What may be chosen by chance, or by the instant of the start. */
interface SeedAndStart {
  readonly seed: number
  readonly start: SpaceStart
}

interface Kept {
  readonly state?: SpaceState | undefined
  readonly keeper?: Keeper | undefined
  /** Whether those who watch exchanges are told of one now. */
  readonly isTold?: () => boolean
}

/** Frozen without an instant, all spaces stand at this one, and return to it. */
export function standing(start: SpaceStart, at: EpochMs): SpaceStart {
  return start.freeze ? { ...start, now: start.now ?? at } : start
}
