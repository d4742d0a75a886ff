import type { AnswerRules } from '../contract/answer-rules.js'
import type { Contract } from '../contract/contract.js'
import { hider } from '../domain/redaction.js'
import type { DurationMs } from '../domain/time.js'
import type { UpstreamWrites } from '../domain/upstream.js'
import type { Breach, SeenExchange } from '../drift/exchange.js'
import { findBreaches } from '../drift/find-breaches.js'
import type { Environment } from '../system/environment.js'
import { basePathOf } from './base-address.js'
import { openRecorder } from './recorder.js'
import { openUpstream, type Upstream } from './upstream.js'

/** The real service behind a sandbox, and what is done with what it answers. */
export interface RealService extends Upstream {
  /** Its base address. */
  readonly baseUrl: string
  readonly writes: UpstreamWrites
  /** How one of its answers drifts from the contract. */
  breachesOf(exchange: SeenExchange): readonly Breach[]
}

/** The options of a sandbox that are about it. */
export interface RealServiceOptions {
  readonly upstreamApiKeyFile: string | undefined
  readonly upstreamCa: string | undefined
  readonly upstreamTimeout: DurationMs
  readonly upstreamWrites: UpstreamWrites
  /** Folder in which what it answers is kept as fixtures. */
  readonly record: string | undefined
}

/** Whom it asks and tells. */
export interface RealServiceNeeds {
  readonly contract: Contract
  /** What its answers are held to. */
  readonly rules: AnswerRules
  /** For the proxies of this machine. */
  readonly env: Environment
  /** An animal as fixtures can have it; undefined for what is none. */
  keptPet(value: object): object | undefined
  warn(message: string): void
}

/** @throws Failure, TargetError for files and proxies that cannot be used */
export async function openRealService(
  baseUrl: string,
  { upstreamApiKeyFile, upstreamCa, upstreamTimeout, upstreamWrites, record }: RealServiceOptions,
  { contract, rules, env, keptPet, warn }: RealServiceNeeds,
): Promise<RealService> {
  const upstream = await openUpstream({
    baseUrl,
    apiKeyFile: upstreamApiKeyFile,
    caFile: upstreamCa,
    timeout: upstreamTimeout,
    env,
  })
  const hide = hider(upstream.secrets) ?? ((text) => text)
  const recorder = record === undefined ? undefined : openRecorder(record, { contract, keptPet, hide, warn })
  const promises = { rules, plans: contract.plans, basePath: basePathOf(baseUrl) }
  return {
    ...upstream,
    baseUrl,
    writes: upstreamWrites,
    breachesOf: (exchange) => findBreaches(promises, exchange),
    send:
      recorder === undefined
        ? upstream.send
        : async (forward, left) => {
            const outcome = await upstream.send(forward, left)
            recorder.saw(forward, outcome)
            return outcome
          },
    async close() {
      recorder?.close()
      await upstream.close()
    },
  }
}
