import type { ReportedSpace } from '../conduct/conduct-report.js'
import type { Contract } from '../contract/contract.js'
import type { ListOrder } from '../domain/settings.js'
import type { SpaceStart } from '../domain/space-start.js'
import type { LogBudget } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import type { Keyring } from './keyring.js'
import type { MemoryRoom } from './memory-room.js'
import type { RealServiceRules } from './real-service.js'

/** What all spaces of a sandbox share. */
export interface SpaceContext {
  readonly contract: Contract
  /** Path under which the service is, `/v1`. */
  readonly basePath: string
  /** How every space starts, and what a reset returns it to. */
  start: SpaceStart
  readonly keys: Keyring
  /** Hides the keys that have a label in whatever is kept of a request; undefined where there are none. */
  readonly hide: ((text: string) => string) | undefined
  readonly anyKey: boolean
  /** Senders of a key in the default space, unless its settings state them. */
  readonly senders: number
  readonly seed: number
  readonly order: ListOrder
  /** Whether made-up responses say why. */
  readonly reason: boolean
  readonly cors: '*' | readonly string[]
  readonly logLimit: number
  readonly logBudget: LogBudget
  readonly memoryRoom: MemoryRoom
  /** The real service behind the sandbox, if there is one. */
  readonly realService?: RealServiceRules | undefined
  warn(message: string): void
  /** An exchange has ended; undefined if nobody wants to know, so that nothing is made for it. */
  readonly onExchange: ((record: ExchangeRecord) => void) | undefined
  /** A space is about to forget what happened in it. */
  onForget(space: ReportedSpace): void
  /** What was forgotten last is known again. */
  onRecall(): void
}
