import type { Contract } from '../contract/contract.js'
import type { ResponseRules } from '../contract/response-rules.js'
import { basePathOf } from '../domain/base-address.js'
import { formatSize } from '../domain/numbers.js'
import { hider, redactAddress } from '../domain/redaction.js'
import type { DurationMs } from '../domain/time.js'
import { type Forward, MAX_READ_BODY, type UpstreamOutcome, type UpstreamWrites } from '../domain/upstream.js'
import { type ContractViolation, findViolations, type SeenExchange } from '../drift/find-violations.js'
import type { Environment } from '../system/this-process.js'
import { openRecorder } from './recorder.js'
import { openUpstream, type Upstream } from './upstream.js'

export interface RealService extends Upstream {
  readonly baseUrl: string
  readonly writes: UpstreamWrites
  violationsOf(exchange: SeenExchange): readonly ContractViolation[]
}

export interface RealServiceOptions {
  readonly upstreamApiKeyFile: string | undefined
  readonly upstreamCa: string | undefined
  readonly upstreamTimeout: DurationMs
  readonly upstreamWrites: UpstreamWrites
  readonly record: string | undefined
}

export interface RealServiceNeeds {
  readonly contract: Contract
  readonly rules: ResponseRules
  readonly env: Environment
  /** A pet as fixtures can have it; undefined for anything else. */
  keptPet(value: object): object | undefined
  warn(message: string): void
}

/** @throws Failure, TargetError for files and proxies that cannot be used */
export async function openRealService(
  baseUrl: string,
  { upstreamApiKeyFile: apiKeyFile, upstreamCa, upstreamTimeout, upstreamWrites, record }: RealServiceOptions,
  { contract, rules, env, keptPet, warn }: RealServiceNeeds,
): Promise<RealService> {
  const upstream = await openUpstream({
    baseUrl,
    keyHeader: contract.keyHeaders[0],
    apiKeyFile,
    caFile: upstreamCa,
    timeout: upstreamTimeout,
    env,
  })
  const hide = hider(upstream.secrets) ?? ((text) => text)
  const recorder = record === undefined ? undefined : openRecorder(record, { contract, keptPet, hide, warn })
  const promises = { rules, contract, basePath: basePathOf(baseUrl), maxBody: MAX_READ_BODY }
  const warned = new Set<string>()

  function warnOnce(about: string, message: string): void {
    if (!warned.has(about)) warn(message)
    warned.add(about)
  }

  function inspect(forward: Forward, outcome: UpstreamOutcome): void {
    if (outcome.kind !== 'response') return
    const { status, body } = outcome
    const request = `${forward.method} ${redactAddress(forward.target.split('?', 1)[0] ?? '')}`
    if (body.length > MAX_READ_BODY)
      warnOnce(
        request,
        `The real service sent ${formatSize(body.length)} for ${request}. More than ${formatSize(MAX_READ_BODY)} is passed on as it is: not checked for drift, not recorded, and without the pets that are kept here.`,
      )
    else recorder?.record(forward, outcome)
    if (status === 401 && apiKeyFile !== undefined && forward.authorization === undefined)
      warnOnce(
        'key',
        `${baseUrl} refused the key in --upstream-api-key-file ${JSON.stringify(apiKeyFile)} with 401. Put a valid key into that file and restart.`,
      )
  }

  return {
    ...upstream,
    baseUrl,
    writes: upstreamWrites,
    violationsOf: (exchange) => findViolations(promises, exchange),
    async send(forward, left) {
      const outcome = await upstream.send(forward, left)
      inspect(forward, outcome)
      return outcome
    },
    async close() {
      recorder?.close()
      await upstream.close()
    },
  }
}
