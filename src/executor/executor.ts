import type { Contract } from '../contract/contract.js'
import type { Health } from '../control/routes.js'
import type { ControlTarget } from '../control/verb.js'
import type { RequestCommand } from '../core/command.js'
import type { SnapshotStore, Store } from '../core/space-context.js'
import type { Spaces } from '../core/spaces.js'
import type { FaultRule } from '../domain/faults.js'
import type { EndedExchange, ExchangeRef, PendingReply } from '../domain/messages.js'
import type { SpaceStart, StoredState } from '../domain/state.js'
import { type EpochMs, startInstant } from '../domain/time.js'
import type { Upstream } from '../domain/upstream.js'
import type { ResolvedOptions } from '../options/resolve.js'
import type { CleanupStack } from '../system/cleanup-stack.js'

/** Executes commands: directly, or through the log of a group of replicas. */
export interface CommandExecutor {
  readonly spaces: Spaces
  readSeed(): StoredState
  /** @param left returns a signal that is aborted when the client has left */
  answer(command: Omit<RequestCommand, 'kind'>, wall?: EpochMs, left?: () => AbortSignal): PendingReply
  /** @returns the position of the command */
  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number
  readonly target: Pick<ControlTarget, 'change' | 'read' | 'replicas' | 'snapshotsOf'>
  save(): Promise<SavedSandbox>
  health(): Health
  /** @param address of the open port; empty for none */
  begin(address: string): Promise<void>
}

export interface SandboxDeps {
  readonly options: ResolvedOptions
  readonly contract: Contract
  readonly startedAt: EpochMs
  readonly opened: Pick<CleanupStack, 'defer'>
  readonly upstream: Upstream | undefined
  seedsOf(seed: number): () => StoredState
  openSpaces(how: SeedAndStart, at: EpochMs, seed: StoredState, stored?: StoredSpaces): Spaces
  /** Checks bodies of fault rules against the contract. @throws OptionsError with `strict`; otherwise it warns */
  checkFaults(faults: readonly FaultRule[]): Promise<void>
  /** Checks that spaces can be opened from a state with these options. @throws Failure UNKNOWN_KEY, LABEL_TAKEN */
  check(state: StoredState): void
  warn(message: string): void
  progress(text: string): void
}

/** A whole sandbox as plain data. Another sandbox with the same options can continue from it. */
export interface SavedSandbox {
  /** Position of the last command. Later commands have higher positions. */
  readonly position: number
  /** A checkpoint. */
  readonly spaces: string
}

export interface OpenedStore {
  readonly state: StoredState | undefined
  readonly store: Store
  readonly snapshots: SnapshotStore
  /** Writes the first document, or folds the journal. @param stateNow returns the committed state */
  begin(stateNow: () => StoredState): Promise<void>
  close(): void
}

interface SeedAndStart {
  readonly seed: number
  readonly start: SpaceStart
}

interface StoredSpaces {
  readonly state?: StoredState | undefined
  readonly store?: Store | undefined
  readonly isReported?: () => boolean
}

/** A clock frozen without an instant stops at the start of the sandbox, and resets return to it. Settings have a plan. */
export function resolveFrozenStart(given: SpaceStart, at: EpochMs, contract: Contract): SpaceStart {
  const { plan = contract.defaultPlan, ...settings } = given.settings
  const start = { ...given, settings: { ...(plan === undefined ? {} : { plan }), ...settings } }
  return start.freeze ? { ...start, now: startInstant(start.now ?? at, at, contract) } : start
}
