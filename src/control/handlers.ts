import type { OperationName } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import { addRecord, getRecord, listRecords, removeRecord, setRecord } from '../core/owner-records.js'
import type { OwnHandler, RequestContext } from '../core/request-context.js'
import { problem, storeProblem } from '../core/responses.js'
import type { Space } from '../core/space.js'
import { Transaction } from '../core/transaction.js'
import { isFraming } from '../domain/faults.js'
import type { HandlerResult } from '../domain/messages.js'
import { type Bytes, MIB } from '../domain/numbers.js'
import { randomStream } from '../domain/random.js'
import { RecordRefused } from '../domain/records.js'
import { didYouMean, unknownOperation } from '../domain/suggest.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import { OptionsError } from '../options/options.js'
import { runLimited } from '../system/limited-run.js'
import { messageOf } from '../system/message-of.js'
import { utf8Length, utf8Text } from '../system/runtime.js'
import { systemClock } from '../system/system-clock.js'
import { VerbError } from './verb.js'

type RecordValues = Readonly<Record<string, unknown>>
/** Of a nested record: the ids of its parents, outermost first, then its own. */
export type RecordKey = Int64 | string | readonly (Int64 | string)[]

/** The records of the request's space. Changes are stored together once the handler has returned, or not at all. */
export interface HandlerRecords {
  /** Newest first. */
  list(resource: string): readonly RecordValues[]
  /** Undefined if there is none. */
  get(resource: string, id: RecordKey): RecordValues | undefined
  /** Adds a record, with read-only fields if given. Missing fields are filled in. @throws if the contract does not allow it */
  add(resource: string, record: object): RecordValues
  /**
   * Changes fields; null removes one.
   * @throws if there is no such record (a 404, unless the handler catches it), or the contract does not allow the change
   */
  set(resource: string, id: RecordKey, change: object): RecordValues
  /** Removes a record and its nested records, if there is one. */
  remove(resource: string, id: RecordKey): void
}

/** Types of a request, for `handle`. */
export interface HandledTypes {
  readonly path?: object
  readonly query?: object
  readonly body?: unknown
}

type Default<Given, Otherwise> = unknown extends Given ? Otherwise : Exclude<Given, undefined>

/** A request that keeps the contract. */
export interface HandledRequest<Of extends HandledTypes = object> {
  readonly path: Default<Of['path'], Readonly<Record<string, Int64 | string>>>
  readonly query: Default<Of['query'], RecordValues>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Default<Of['body'], RecordValues>
  readonly records: HandlerRecords
  /** By the space's clock: ISO 8601. */
  readonly now: string
  /** At least 0, below 1; the same in each run with the same seed and requests. */
  random(): number
}

export interface HandledResponse {
  /** 200 to 599. Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or a text if `headers` has another Content-Type; at most 1 MiB. */
  readonly body?: unknown
}

/** Responds to requests of an operation; undefined for the response that it would have otherwise. Synchronous. */
export type OperationHandler<Of extends HandledTypes = object> = (
  request: HandledRequest<Of>,
) => HandledResponse | undefined

const TIME_LIMIT_MS: DurationMs = SECOND_MS
/** Later changes are refused, so that the limit never ends one halfway. */
const LAST_CHANGE_MS: DurationMs = 800
const MAX_BODY: Bytes = MIB

/** @param space empty for all that have no handler of their own @throws VerbError */
export function setHandler(fallback: Space, space: string, operation: OperationName, handler: OperationHandler): void {
  const { contract, handlers } = fallback.shared
  if (handlers === undefined) throw new VerbError('conflict', 'Handlers are not available with --redis.')
  const ids = contract.operations.map(({ id }) => id)
  if (!ids.includes(operation)) throw new VerbError('not_found', unknownOperation(operation, ids))
  if (typeof handler !== 'function')
    throw new VerbError('invalid_request', `The handler of ${operation} must be a function.`)
  const own = new Map(handlers.get(space))
  handlers.set(space, own.set(operation, ownHandler(operation, handler)))
}

/** @param functions the exports of a module, by operation @throws OptionsError, without any change */
export function replaceHandlers(fallback: Space, functions: Readonly<Record<string, unknown>>, file: string): void {
  const { contract, handlers } = fallback.shared
  const ids = contract.operations.map(({ id }) => id)
  const found = Object.entries(functions).filter(([, handler]) => typeof handler === 'function')
  const problems = found.flatMap(([name]) =>
    ids.includes(name)
      ? []
      : [`--handlers "${file}": the contract has no operation "${name}", which it exports${didYouMean(name, ids)}`],
  )
  if (problems.length > 0) throw new OptionsError(problems)
  handlers?.set(
    '',
    new Map(found.map(([name, handler]) => [name, ownHandler(name, handler as OperationHandler, file)])),
  )
}

/** @param file where it is from */
function ownHandler(operation: string, handler: OperationHandler, file?: string): OwnHandler {
  const name = `The handler of ${operation}${file === undefined ? '' : ` in ${file}`}`
  return (context) => {
    const { space, wall } = context
    const transaction = new Transaction(space)
    const turn = { isOver: false, until: systemClock.monotonic() + LAST_CHANGE_MS }
    let result: HandlerResult | undefined
    try {
      const hasEnded = runLimited(() => {
        result = readResponse(handler(requestFor(context, turn)))
      }, TIME_LIMIT_MS)
      if (!hasEnded) throw new HandlerProblem(`it ran longer than ${TIME_LIMIT_MS} ms`)
      transaction.end(wall)
      return result
    } catch (error) {
      transaction.rollBack()
      const unstored = error instanceof NoSuchRecord ? problem('not_found') : storeProblem(error, space)
      if (unstored !== undefined) return unstored
      const message = `${name} failed: ${messageOf(error)}${placeOf(error)}.`
      space.shared.warn(message)
      return problem('internal_error', { message })
    } finally {
      turn.isOver = true
    }
  }
}

/** A mistake that no line of the handler throws. */
class HandlerProblem extends Error {}

/** The handler changes a record that is not there: a 404, unless it catches this. */
class NoSuchRecord extends Error {}

const PLACE = /(?:file:\/\/)?((?:\/|[A-Za-z]:\/)[^\s()]*?)(?:\?[^:\s]*)?(:\d+:\d+)/g

/** ` (at handlers.ts:12:5)`: the first line that is not the sandbox's own. */
function placeOf(error: unknown): string {
  if (error instanceof HandlerProblem) return ''
  const placesIn = (stack: unknown) =>
    [...String(stack).matchAll(PLACE)].map(([, file = '', line = '']) => [file, line])
  const own = placesIn(new Error().stack)[0]?.[0]?.replace(/(\/(?:src|dist)\/).*$/, '$1') ?? ''
  const [file, line] = placesIn(Object(error).stack).find(([file = '']) => !file.startsWith(own)) ?? []
  return file === undefined ? '' : ` (at ${file}${line})`
}

interface Turn {
  readonly isOver: boolean
  readonly until: number
}

function requestFor(context: RequestContext, turn: Turn): HandledRequest {
  const { space, request, route, now, wall, position, query } = context
  if (route.kind !== 'operation') throw new HandlerProblem('it has no operation')
  const { operation, captured } = route
  const { readings } = context
  const stream = randomStream(`${space.shared.seed} ${space.name} handler ${position}`)
  return {
    path: (readings?.path ?? operation.readPath(captured)).values as HandledRequest['path'],
    query: (readings?.query ?? operation.readQuery(query)).values,
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value && String(value)])),
    body: (readings?.body?.values ?? jsonIn(request.body)) as HandledRequest['body'],
    records: recordsFor(space, wall, turn),
    now: new Date(now).toISOString(),
    random: () => stream.next(),
  }
}

function jsonIn(body: RequestContext['request']['body']): unknown {
  try {
    return body instanceof Uint8Array ? parseShallowJson(utf8Text(body)) : undefined
  } catch {
    return undefined
  }
}

/** What a handler does to a record that it has is not stored; only `set` is. */
function recordsFor(space: Space, wall: EpochMs, turn: Turn): HandlerRecords {
  const checkTurn = () => {
    if (turn.isOver) throw new Error('The handler has returned: handlers are synchronous.')
    if (systemClock.monotonic() > turn.until) throw new Error(`it ran longer than ${LAST_CHANGE_MS} ms`)
  }
  const idOf = (id: RecordKey) => (Array.isArray(id) ? id.map(encodeURIComponent).join('/') : String(id))
  const find = (resource: string, id: RecordKey) => {
    try {
      return structuredClone(getRecord(space, resource, idOf(id)))
    } catch (error) {
      if (error instanceof RecordRefused && error.code === 'not_found' && space.state.records.has(resource))
        return undefined
      throw error
    }
  }
  return {
    list: (resource) => structuredClone(listRecords(space, resource)),
    get: find,
    add(resource, record) {
      checkTurn()
      return structuredClone(addRecord(space, resource, record as RecordValues, wall))
    },
    set(resource, id, change) {
      checkTurn()
      if (find(resource, id) === undefined) throw new NoSuchRecord(`${resource} has no record ${idOf(id)}`)
      return structuredClone(setRecord(space, resource, idOf(id), change as RecordValues, wall))
    },
    remove(resource, id) {
      checkTurn()
      removeRecord(space, resource, idOf(id), wall)
    },
  }
}

function readResponse(given: unknown): HandlerResult | undefined {
  if (given === undefined) return undefined
  if (typeof given !== 'object' || given === null)
    throw new HandlerProblem('it must return an object with status, headers and body, or undefined')
  if (typeof Object(given).then === 'function') {
    Promise.resolve(given).catch(() => {})
    throw new HandlerProblem('handlers are synchronous, and it returned a promise')
  }
  const { status = 200, headers = {}, body } = given as HandledResponse
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new HandlerProblem(`its status must be from 200 to 599 (it is ${String(status)})`)
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  const unsendable = findUnsendable({ status, headers: Object.fromEntries(entries) })
  const framing = entries.find(([name]) => isFraming(name))
  if (unsendable !== undefined || framing !== undefined)
    throw new HandlerProblem(unsendable ?? `the header "${framing?.[0]}" cannot be set`)
  const isType = ([name]: readonly [string, string]) => name.toLowerCase() === 'content-type'
  const contentType = entries.find(isType)?.[1]
  const isText = typeof body === 'string' && contentType !== undefined && !/\bjson\b/i.test(contentType)
  const text = body === undefined || hasNoBody(status) ? '' : isText ? body : jsonText(body)
  if (utf8Length(text) > MAX_BODY) throw new HandlerProblem('its body is larger than 1 MiB')
  return {
    status,
    body: text,
    headers: entries.filter((entry) => !isType(entry)).flat(),
    ...(contentType !== undefined && { contentType }),
  }
}

function jsonText(body: unknown): string {
  try {
    if (typeof body !== 'function' && typeof body !== 'symbol') return stringifyJson(body)
  } catch {
    // It refers to itself, for example.
  }
  throw new HandlerProblem('its body must be JSON')
}
