import type { Contract } from './contract/contract.js'
import type { Health } from './control/routes.js'
import type { ControlTarget } from './control/verb.js'
import type { RequestCommand } from './core/command.js'
import type { Store } from './core/ports.js'
import type { RealService } from './core/real-service.js'
import type { SnapshotStore } from './core/snapshot.js'
import type { Spaces } from './core/spaces.js'
import type { EndedExchange, ExchangeRef, PendingReply } from './domain/messages.js'
import type { SpaceStart } from './domain/space-start.js'
import type { SpaceState } from './domain/state.js'
import type { EpochMs } from './domain/time.js'
import type { ResolvedOptions } from './options/options.js'

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
  /** All that it is now. */
  save(): SavedSandbox
  health(): Health
  /** The port is open at an address; empty for none. */
  begin(address: string): Promise<void>
  close(): Promise<void>
}

/** What a sandbox by itself and a replica are made of. */
export interface Ground {
  readonly options: ResolvedOptions
  readonly contract: Contract
  readonly startedAt: EpochMs
  /** The real service that it stands in front of, if it does. */
  readonly upstream: RealService | undefined
  /** Opens all spaces as they start. @param kept what was stored or carried over, if anything was */
  open(how: SeedAndStart, at: EpochMs, seed: SpaceState, kept?: Kept): Spaces
  /** Whether spaces can be opened from a state with the options that were given. @throws Failure UNKNOWN_KEY, LABEL_TAKEN */
  check(state: SpaceState): void
  warn(message: string): void
}

/** A whole sandbox as plain data; one that is started with the same options goes on from it. */
export interface SavedSandbox {
  /** Of the last command that it has applied: who comes later must not stand before it. */
  readonly position: number
  /** @see checkpointOf */
  readonly checkpoint: string
}

/** Where the state of a sandbox outlives it. */
export interface KeptState {
  /** As it was left; undefined for a new store. */
  readonly state: SpaceState | undefined
  readonly keeper: Keeper
  /** Of the default space. */
  readonly snapshots: SnapshotStore
  /** Makes room for so many bytes, if it can. */
  makeRoom(bytes: number): Promise<void> | undefined
  /** Starts to write: until then nothing of what was left is touched. */
  begin(fixtures: SpaceState, stateNow: () => SpaceState): Promise<void>
  close(): Promise<void>
}

/** Holds answers back until the changes that they may tell of are kept. */
export interface Keeper extends Store {
  /** Takes an answer that may tell of what is not kept yet: `withheld` says then why it must not leave. */
  watch(witness: { withheld?: unknown }, seesPets?: boolean): void
  /** Writes what is not kept yet. @returns undefined if all is kept or taken back, or a promise of that, which never rejects */
  settle(): Promise<void> | undefined
}

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
