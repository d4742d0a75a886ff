import type { Controls } from '../api/controls.js'
import { exchangeLines } from '../api/waits.js'
import type { ViolationRule } from '../conduct/conduct-view.js'
import type { OperationName } from '../contract/entities.js'
import { parseJson } from '../contract/json.js'
import type { Exchange } from '../exchanges/exchange-record.js'

/** The matchers, for the types of Vitest (`interface Matchers`) and Jest. */
export interface SandboxMatchers {
  /** Clients sent this request. Without `times`, at least once. */
  toHaveReceived(operation: OperationName, expected?: ReceivedRequest): Promise<void>
  /** The sandbox sent responses with this status. Without `times`, at least one. */
  toHaveServed(status: number, expected?: ServedResponse): Promise<void>
  /** Clients sent requests, and none violated the service's rules. */
  toHaveBehaved(): Promise<void>
  /** Clients broke this rule, on purpose: it is excused, and does not count any more. */
  toHaveViolated(rule: ViolationRule): Promise<void>
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

/** A sandbox or a space: its log, its conduct report and its operations. */
type Subject = Pick<Controls, 'requests' | 'conduct' | 'state' | 'expectViolation'>

/** `await expect(sandbox).toHaveReceived('createPet', { times: 1, body: { name: 'Rex' } })` */
export async function toHaveReceived(
  this: MatcherContext,
  sandbox: Subject,
  operation: OperationName,
  { times, ...rest }: ReceivedRequest = {},
): Promise<MatcherResult> {
  await check(sandbox, operation)
  const all = await sandbox.requests()
  const known = all.filter((exchange) => exchange.operation === operation)
  const testers = [this.utils.subsetEquality] as never[]
  const hasBody = (exchange: Exchange) => !('body' in rest) || this.equals(bodyOf(exchange), rest.body, testers)
  const found = known.filter(hasBody)
  const closest = known.filter((exchange) => !hasBody(exchange)).at(-1)
  const what = ['request', 'body' in rest ? ` of ${operation} with this body` : ` of ${operation}`] as const
  return result(this, found.length, times, what, () => {
    if (this.isNot) return exchangeLines(found, `requests of ${operation}`)
    if (known.length === 0) return exchangeLines(all)
    const lines = exchangeLines(known, `requests of ${operation}`)
    if (closest === undefined) return lines
    const difference = this.utils.diff(rest.body, named(bodyOf(closest), rest.body)) ?? ''
    return `${lines}\n\nHow the body of #${closest.id} differs:\n${difference}`
  })
}

/** `await expect(sandbox).toHaveServed(429, { times: 2 })` @throws RangeError for a status that is not a number */
export async function toHaveServed(
  this: MatcherContext,
  sandbox: Subject,
  status: number,
  { times, operation }: ServedResponse = {},
): Promise<MatcherResult> {
  if (!Number.isInteger(status))
    throw new RangeError(`${JSON.stringify(status)} is not a status. Use a number such as 429.`)
  await check(sandbox, operation)
  const all = await sandbox.requests(operation === undefined ? {} : { operation })
  const found = all.filter((exchange) => exchange.status === status)
  const of = operation === undefined ? '' : ` of ${operation}`
  return result(this, found.length, times, ['response', `${of} with status ${status}`], () =>
    exchangeLines(this.isNot ? found : all, `requests${of}`),
  )
}

/** `await expect(sandbox).toHaveBehaved()` */
export async function toHaveBehaved(this: MatcherContext, sandbox: Subject): Promise<MatcherResult> {
  await check(sandbox)
  const { requests, violations } = await sandbox.conduct()
  const findings = violations.map(({ rule, count, key, message, exchanges }) => {
    const ids = exchanges.map((id) => `#${id}`).join(', ')
    const more = count > exchanges.length ? ` and ${count - exchanges.length} more` : ''
    return `  ${rule}: ${message}\n    By the key ${key}, in the exchanges ${ids}${more}`
  })
  return {
    pass: requests > 0 && violations.length === 0,
    message() {
      if (findings.length > 0) return ["Clients violated the service's rules:", ...findings].join('\n')
      return requests === 0
        ? 'No request reached this space. Check the address and the key of the client.'
        : 'Expected a violation, but clients kept all rules of the service.'
    },
  }
}

/** `await expect(sandbox).toHaveViolated('invalid-request')` */
export async function toHaveViolated(
  this: MatcherContext,
  sandbox: Subject,
  rule: ViolationRule,
): Promise<MatcherResult> {
  await check(sandbox)
  const rules = (await sandbox.conduct()).violations.map((finding) => finding.rule)
  const pass = rules.includes(rule)
  if (pass && this.isNot !== true) await sandbox.expectViolation(rule)
  const message = pass
    ? `Expected no ${rule}, but a client broke the rule.`
    : `Expected ${rule}, but clients broke ${rules.length === 0 ? 'no rule' : `only ${rules.join(', ')}`}.`
  return { pass, message: () => message }
}

function result(
  { isNot = false }: MatcherContext,
  found: number,
  times: number | undefined,
  [noun, rest]: readonly [noun: string, rest: string],
  details: () => string,
): MatcherResult {
  const wanted =
    times === undefined ? (isNot ? 'no' : 'at least 1') : isNot ? `not exactly ${times}` : `exactly ${times}`
  const isPlural = times !== undefined && (times !== 1 || isNot)
  const verb = noun === 'request' ? 'received' : 'sent'
  return {
    pass: times === undefined ? found > 0 : found === times,
    message: () =>
      `Expected ${wanted} ${noun}${isPlural ? 's' : ''}${rest}, but the sandbox ${verb} ${found}.\n${details()}`,
  }
}

function named(body: unknown, expected: unknown): unknown {
  if (!isObject(body) || !isObject(expected)) return body
  const fields = Object.keys(expected).filter((name) => Object.hasOwn(body, name))
  return Object.fromEntries(fields.map((name) => [name, named(body[name], expected[name])]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('asymmetricMatch' in value)
}

/** @throws TypeError if the value is not a sandbox; RangeError if it does not have the operation */
async function check(sandbox: Subject, operation?: OperationName): Promise<void> {
  if (typeof sandbox?.requests !== 'function') throw new TypeError('expect(…) takes a sandbox, or a space of one.')
  if (operation === undefined) return
  const { stateful, mocked } = (await sandbox.state()).operations
  const all = [...stateful, ...mocked.map((one) => one.operation)]
  if (!all.includes(operation))
    throw new RangeError(`"${operation}" is not an operation. Use one of: ${all.join(', ')}.`)
}

/** JSON as a value, anything else as text. */
function bodyOf({ request: { body } }: Exchange): unknown {
  try {
    return parseJson(body)
  } catch {
    return body
  }
}
