import type { PastConduct } from '../conduct/total-conduct.js'
import type { Contract } from '../contract/contract.js'
import type { SpaceSource } from '../domain/keys.js'
import type { ListOrder } from '../domain/settings.js'
import type { Change, Snapshot, SpaceStart } from '../domain/state.js'
import type { Upstream } from '../domain/upstream.js'
import type { AllowedOrigins } from '../domain/web-origins.js'
import type { LogBudget } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import type { Keyring } from './keyring.js'
import type { MemoryBudget } from './memory-budget.js'

export interface SpaceContext {
  readonly contract: Contract
  readonly basePath: string
  start: SpaceStart
  readonly keys: Keyring
  /** Masks labelled keys in everything that is kept; undefined without such keys. */
  readonly hide: ((text: string) => string) | undefined
  readonly anyKey: boolean
  /** Mocked logins issue tokens that work. */
  readonly hasLogins: boolean
  /**
   * Functions of the user (`OwnHandler`), by space, then by operation. The default space's are for all others too. No part of
   * the state; undefined for replicas, which have to agree.
   */
  readonly handlers: Map<string, ReadonlyMap<string, unknown>> | undefined
  readonly spaceFrom: SpaceSource
  readonly seed: number
  readonly order: ListOrder
  /** Whether made-up responses have X-Sandbox-Reason. */
  readonly reason: boolean
  readonly cors: AllowedOrigins
  readonly logLimit: number
  readonly logBudget: LogBudget
  readonly memoryBudget: MemoryBudget
  readonly upstream?: Pick<Upstream, 'baseUrl' | 'hasKey' | 'writes'> | undefined
  readonly process: ProcessView
  warn(message: string): void
  /** Undefined without listeners. */
  readonly onExchange: ((record: ExchangeRecord) => void) | undefined
  /** Made by the first verb, which loads it: without verbs, no space is reset or removed. */
  pastConduct?: PastConduct
}

export interface ProcessView {
  /** With the flags that were given, but without secrets; null if a program started it. */
  readonly command: string | null
  /** Absolute path of the file with the records; null without a file. */
  readonly store: string | null
  /** Records and log are in Redis, and all replicas have them. */
  readonly isReplica: boolean
}

/** Stores the changes of one space. */
export interface Store {
  /** Writes the changes of one commit, all or none, before they take effect. @throws StoreFull, Failure STORE_WRITE_FAILED */
  append(changes: readonly Change[]): void
}

/** Snapshots kept outside the sandbox. */
export interface SnapshotStore {
  names(): Promise<readonly string[]>
  put(name: string, snapshot: Snapshot): Promise<void>
  get(name: string): Promise<Snapshot | undefined>
  /** @returns whether there was one */
  remove(name: string): Promise<boolean>
}
