import type { Forward, UpstreamOutcome, UpstreamWrites } from '../domain/upstream.js'
import type { Breach, SeenExchange } from '../drift/exchange.js'

/** The real service behind a sandbox, as far as the core has to know of it. */
export interface RealServiceRules {
  /** Its base address. */
  readonly baseUrl: string
  /** Whether a key for it was given: then it stands for every key that the sandbox knows. */
  readonly hasKey: boolean
  readonly writes: UpstreamWrites
  /** How one of its answers drifts from the contract. Only who has a real service loads what finds that. */
  breachesOf(exchange: SeenExchange): readonly Breach[]
}

/** The real service behind a sandbox. */
export interface RealService extends RealServiceRules {
  /** Hidden wherever something is kept. */
  readonly secrets: readonly string[]
  /** Sends a request on, and reads the answer whole. Never rejects. @param left aborted when its client has left */
  send(forward: Forward, left?: AbortSignal): Promise<UpstreamOutcome>
  close(): Promise<void>
}
