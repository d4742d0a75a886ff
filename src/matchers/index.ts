import type { Controls } from '../api/controls.js'
import { exchangeLines } from '../api/waits.js'
import { VIOLATIONS, type ViolationRule } from '../conduct/conduct-view.js'
import type { OperationName } from '../contract/entities.js'
import { parseJson } from '../contract/json.js'
import type { Exchange } from '../exchanges/exchange-record.js'
import { isCut } from '../exchanges/kept-body.js'

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
  expected: ReceivedRequest = {},
): Promise<MatcherResult> {
  checkOptions(expected, ['times', 'body'])
  const { times, ...rest } = expected
  const { all, dropped } = await readLog(sandbox, String(operation))
  const known = all.filter((exchange) => exchange.operation === operation)
  const testers = [this.utils.subsetEquality] as never[]
  const hasBody = (exchange: Exchange) => !('body' in rest) || this.equals(bodyOf(exchange), rest.body, testers)
  const found = known.filter(hasBody)
  const [cut, ...others] = known.filter((exchange) => !hasBody(exchange) && isCut(exchange.request))
  checkKnown(found.length, times, dropped.count + (cut === undefined ? 0 : 1 + others.length), () =>
    cut === undefined || dropped.count > 0
      ? dropped.message
      : `The log has only the beginning of the body of #${cut.id}, so "body" cannot be compared with it.`,
  )
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
  expected: ServedResponse = {},
): Promise<MatcherResult> {
  checkOptions(expected, ['times', 'operation'])
  const { times, operation } = expected
  if (!Number.isInteger(status))
    throw new RangeError(`${JSON.stringify(status)} is not a status. Use a number such as 429.`)
  const log = await readLog(sandbox, operation)
  const all = log.all.filter((exchange) => operation === undefined || exchange.operation === operation)
  const found = all.filter((exchange) => exchange.status === status)
  checkKnown(found.length, times, log.dropped.count, () => log.dropped.message)
  const of = operation === undefined ? '' : ` of ${operation}`
  return result(this, found.length, times, ['response', `${of} with status ${status}`], () =>
    exchangeLines(this.isNot ? found : all, `requests${of}`),
  )
}

/** `await expect(sandbox).toHaveBehaved()` */
export async function toHaveBehaved(this: MatcherContext, sandbox: Subject): Promise<MatcherResult> {
  checkSandbox(sandbox)
  const { requests, violations } = await sandbox.conduct()
  if (requests === 0) return noTraffic(this)
  const findings = violations.map(({ rule, count, key, message, exchanges }) => {
    const ids = exchanges.map((id) => `#${id}`).join(', ')
    const more = count > exchanges.length ? ` and ${count - exchanges.length} more` : ''
    return `  ${rule}: ${message}\n    By the key ${key}, in the exchanges ${ids}${more}`
  })
  return {
    pass: violations.length === 0,
    message: () =>
      findings.length > 0
        ? ["Clients violated the service's rules:", ...findings].join('\n')
        : 'Expected a violation, but clients kept all rules of the service.',
  }
}

/** `await expect(sandbox).toHaveViolated('invalid-request')` @throws RangeError for a rule that is no violation */
export async function toHaveViolated(
  this: MatcherContext,
  sandbox: Subject,
  rule: ViolationRule,
): Promise<MatcherResult> {
  checkSandbox(sandbox)
  if (!VIOLATIONS.includes(rule))
    throw new RangeError(`"${rule}" is not a violation. Use one of: ${VIOLATIONS.join(', ')}.`)
  const { requests, violations } = await sandbox.conduct()
  if (requests === 0) return noTraffic(this)
  const rules = violations.map((finding) => finding.rule)
  const pass = rules.includes(rule)
  if (pass && this.isNot !== true) await sandbox.expectViolation(rule)
  const message = pass
    ? `Expected no ${rule}, but a client broke the rule.`
    : `Expected ${rule}, but clients broke ${rules.length === 0 ? 'no rule' : `only ${rules.join(', ')}`}.`
  return { pass, message: () => message }
}

/** Fails, also negated: a client that reached no sandbox proves nothing. */
function noTraffic({ isNot = false }: MatcherContext): MatcherResult {
  return { pass: isNot, message: () => 'No request reached this space. Check the address and the key of the client.' }
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

/** @throws RangeError */
function checkOptions({ times, ...others }: { readonly times?: number }, known: readonly string[]): void {
  const unknown = Object.keys(others).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new RangeError(`"${unknown}" is not an option. Use one of: ${known.join(', ')}.`)
  if (times !== undefined && !Number.isInteger(times))
    throw new RangeError(`${JSON.stringify(times)} is not a number of times. Use a number such as 1.`)
}

/** @throws TypeError */
function checkSandbox(sandbox: Subject): void {
  if (typeof sandbox?.requests !== 'function') throw new TypeError('expect(…) takes a sandbox, or a space of one.')
}

/** @throws TypeError if the value is not a sandbox; RangeError if it does not have the operation */
async function readLog(sandbox: Subject, operation: OperationName | undefined) {
  checkSandbox(sandbox)
  const all = await sandbox.requests()
  // Afterwards, so that it counts what was dropped before.
  const { operations, counts } = await sandbox.state()
  const names = [...operations.stateful, ...operations.mocked.map((one) => one.operation)]
  if (operation !== undefined && !names.includes(operation))
    throw new RangeError(`"${operation}" is not an operation. Use one of: ${names.join(', ')}.`)
  const { requests, logged } = counts
  const message = `The log has only the last ${logged} of ${requests} requests. Keep more with logLimit (--log-limit), or call requests.clear() first.`
  return { all, dropped: { count: requests - logged, message } }
}

/** @param unknown requests that the log does not show, or not whole @throws Error if they decide whether it passes */
function checkKnown(found: number, times: number | undefined, unknown: number, message: () => string): void {
  const decides = times === undefined ? found === 0 : found <= times && times <= found + unknown
  if (unknown > 0 && decides) throw new Error(message())
}

/** JSON as a value, anything else as text. */
function bodyOf({ request: { body } }: Exchange): unknown {
  try {
    return parseJson(body)
  } catch {
    return body
  }
}
