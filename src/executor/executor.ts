import type { Contract } from '../contract/contract.js'
import type { Health } from '../control/routes.js'
import type { ControlTarget } from '../control/verb.js'
import type { RequestCommand } from '../core/command.js'
import type { RealService } from '../core/real-service.js'
import type { SnapshotStore, Store } from '../core/space-context.js'
import type { Spaces } from '../core/spaces.js'
import type { EndedExchange, ExchangeRef, PendingReply } from '../domain/messages.js'
import type { SpaceStart, SpaceState } from '../domain/state.js'
import { type EpochMs, startInstant } from '../domain/time.js'
import type { ResolvedOptions } from '../options/resolve.js'
import type { CleanupStack } from '../system/cleanup-stack.js'

/** Executes commands: directly, or through the log of a group of replicas. */
export interface CommandExecutor {
  readonly spaces: Spaces
  /** Reads the fixtures as they are now. */
  readSeed(): SpaceState
  /** @param left returns a signal that is aborted when the client has left */
  answer(command: Omit<RequestCommand, 'kind'>, wall?: EpochMs, left?: () => AbortSignal): PendingReply
  /** Makes room in the store for the body of a request. @returns undefined if nothing has to be done */
  makeRoom(bytes: number): Promise<void> | undefined
  /** Waits until everything that replies may reveal is written; undefined if it is. Never rejects. */
  settle(): Promise<void> | undefined
  /** Reports the ends of exchanges. @returns the position of that command */
  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number
  readonly target: Pick<ControlTarget, 'change' | 'read' | 'replicas' | 'snapshotsOf'>
  /** The whole state, for another sandbox to continue from. */
  save(): SavedSandbox
  health(): Health
  /** @param address where the port is open; empty for none */
  begin(address: string): Promise<void>
}

export interface SandboxDeps {
  readonly options: ResolvedOptions
  readonly contract: Contract
  readonly startedAt: EpochMs
  readonly opened: Pick<CleanupStack, 'defer'>
  readonly upstream: RealService | undefined
  seedsOf(seed: number): () => SpaceState
  openSpaces(how: SeedAndStart, at: EpochMs, seed: SpaceState, stored?: StoredSpaces): Spaces
  /** Checks that spaces can be opened from a state with these options. @throws Failure UNKNOWN_KEY, LABEL_TAKEN */
  check(state: SpaceState): void
  warn(message: string): void
  progress(text: string): void
}

/** A whole sandbox as plain data. A sandbox with the same options can continue from it. */
export interface SavedSandbox {
  /** Of the last command that was executed: later commands have higher positions. */
  readonly position: number
  readonly checkpoint: string
}

export interface OpenedStore {
  readonly state: SpaceState | undefined
  readonly keeper: Keeper
  readonly snapshots: SnapshotStore
  makeRoom(bytes: number): Promise<void> | undefined
  /** Starts writing. Nothing is overwritten before. */
  begin(fixtures: SpaceState, stateNow: () => SpaceState): Promise<void>
  close(): Promise<void>
}

/** Holds replies back until the changes that they may reveal are written. @see store/keeper.ts */
export interface Keeper extends Store {
  watch(reply: { withheld?: unknown }, seesPets?: boolean): void
  settle(): Promise<void> | undefined
}

interface SeedAndStart {
  readonly seed: number
  readonly start: SpaceStart
}

interface StoredSpaces {
  readonly state?: SpaceState | undefined
  readonly keeper?: Keeper | undefined
  readonly isReported?: () => boolean
}

/** Gives a clock that is frozen without an instant the instant of the start, to which resets return. */
export function resolveFrozenStart(start: SpaceStart, at: EpochMs): SpaceStart {
  return start.freeze ? { ...start, now: startInstant(start.now ?? at, at) } : start
}
