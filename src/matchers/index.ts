import type { Controls } from '../api/controls.js'
import { exchangeLine, exchangeLines } from '../api/exchange-lines.js'
import type { OperationName } from '../contract/entities.js'
import { parseJson } from '../contract/json.js'
import type { Exchange } from '../exchanges/exchange-view.js'

/** The matchers, for the types of Vitest (`interface Matchers`) and Jest. */
export interface SandboxMatchers {
  /** Clients sent this request. Without `times`, at least once. */
  toHaveReceived(operation: OperationName, expected?: ReceivedRequest): Promise<void>
  /** The sandbox sent responses with this status. Without `times`, at least one. */
  toHaveServed(status: number, expected?: ServedResponse): Promise<void>
  /** Clients sent requests, and none violated the service's rules. */
  toHaveBehaved(): Promise<void>
}

export interface ReceivedRequest {
  /** Exact number of such requests. */
  readonly times?: number
  /** Fields that the JSON body must have; others are ignored. Asymmetric matchers are allowed. */
  readonly body?: unknown
}

export interface ServedResponse {
  readonly times?: number
  readonly operation?: OperationName
}

/** The part of a matcher's `this` that Vitest and Jest share. */
interface MatcherContext {
  readonly isNot?: boolean
  equals(a: unknown, b: unknown, customTesters?: never[]): boolean
  readonly utils: {
    readonly subsetEquality: unknown
    diff(expected: unknown, received: unknown): string | null | undefined
  }
}

interface MatcherResult {
  readonly pass: boolean
  message(): string
}

/** A sandbox or a space: its log and its conduct report. */
type Subject = Pick<Controls, 'requests' | 'conduct'>

/** `await expect(sandbox).toHaveReceived('createPet', { times: 1, body: { name: 'Rex' } })` */
export async function toHaveReceived(
  this: MatcherContext,
  sandbox: Subject,
  operation: OperationName,
  { times, ...rest }: ReceivedRequest = {},
): Promise<MatcherResult> {
  checkSubject(sandbox)
  const all = await sandbox.requests({ operation })
  const testers = [this.utils.subsetEquality] as never[]
  const hasBody = (exchange: Exchange) => !('body' in rest) || this.equals(bodyOf(exchange), rest.body, testers)
  const found = all.filter(hasBody)
  const closest = all.filter((exchange) => !hasBody(exchange)).at(-1)
  const what = `${operation}${'body' in rest ? ' with this body' : ''}`
  return result(this, found.length, times, what, () => {
    const known = exchangeLines(this.isNot ? found : all, `requests of ${operation}`)
    if (closest === undefined || this.isNot) return known
    return `${known}\n\nThe body of ${exchangeLine(closest)}:\n${this.utils.diff(rest.body, bodyOf(closest)) ?? ''}`
  })
}

/** `await expect(sandbox).toHaveServed(429, { times: 2 })` */
export async function toHaveServed(
  this: MatcherContext,
  sandbox: Subject,
  status: number,
  { times, operation }: ServedResponse = {},
): Promise<MatcherResult> {
  checkSubject(sandbox)
  const all = await sandbox.requests(operation === undefined ? {} : { operation })
  const found = all.filter((exchange) => exchange.status === status)
  const what = `response ${status}${operation === undefined ? '' : ` of ${operation}`}`
  return result(this, found.length, times, what, () => exchangeLines(this.isNot ? found : all))
}

/** `await expect(sandbox).toHaveBehaved()` */
export async function toHaveBehaved(this: MatcherContext, sandbox: Subject): Promise<MatcherResult> {
  checkSubject(sandbox)
  const { requests, violations } = await sandbox.conduct()
  const findings = violations.map(({ rule, count, key, operation, message, exchanges }) => {
    const where = exchanges.map((id) => `#${id}`).join(', ')
    return `  ${rule}, ${count} times by ${key}${operation === null ? '' : ` in ${operation}`}: ${message} Exchanges: ${where}`
  })
  return {
    pass: requests > 0 && violations.length === 0,
    message() {
      if (findings.length > 0) return ["Clients violated the service's rules:", ...findings].join('\n')
      return requests === 0
        ? 'No request reached this space. Check the address and the key of the client.'
        : 'Clients kept all rules of the service. Expected a violation.'
    },
  }
}

function result(
  { isNot = false }: MatcherContext,
  found: number,
  times: number | undefined,
  what: string,
  details: () => string,
): MatcherResult {
  const expected = times === undefined ? (isNot ? 'no' : 'at least 1 ×') : `${isNot ? 'not ' : ''}${times} ×`
  return {
    pass: times === undefined ? found > 0 : found === times,
    message: () => `Expected ${expected} ${what}, found ${found}.\n${details()}`,
  }
}

/** @throws TypeError if the value is not a sandbox */
function checkSubject(sandbox: Subject): void {
  if (typeof sandbox?.requests !== 'function') throw new TypeError('expect(…) takes a sandbox, or a space of one.')
}

/** JSON as a value, anything else as text. */
function bodyOf({ request: { body } }: Exchange): unknown {
  try {
    return parseJson(body)
  } catch {
    return body
  }
}
