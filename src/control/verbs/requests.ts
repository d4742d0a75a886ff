import * as v from 'valibot'
import { conductReport } from '../../conduct/conduct-report.js'
import { VIOLATIONS } from '../../conduct/conduct-view.js'
import type { Open, OperationName } from '../../contract/entities.js'
import type { Space } from '../../core/space.js'
import { findRoute, splitTarget } from '../../core/target.js'
import { keyChoices, keyParts } from '../../domain/key-places.js'
import { keyLabel, loggedKeyText } from '../../domain/keys.js'
import { UNREADABLE } from '../../domain/messages.js'
import { replaceInQuery } from '../../domain/other-key-places.js'
import type { Reason } from '../../domain/problems.js'
import { MASK } from '../../domain/redaction.js'
import { recordSchema } from '../../domain/schemas.js'
import { addressOf, spacePath } from '../../domain/space-address.js'
import { unknownOperation } from '../../domain/suggest.js'
import { DAY_MS, type DurationMs, type EpochMs, SECOND_MS } from '../../domain/time.js'
import { filterTest } from '../../exchanges/exchange-filter.js'
import { type Exchange, type ExchangeRecord, exchangeView } from '../../exchanges/exchange-record.js'
import { type Har, toHar } from '../../exchanges/har.js'
import { isCut, NO_CHARACTER } from '../../exchanges/kept-body.js'
import { quoted } from '../../options/problem.js'
import { readInstant } from '../../options/values/instant.js'
import { oneOf, readDuration, textSchema } from '../../options/values/reading.js'
import { packageVersion } from '../../system/package-files.js'
import {
  type ControlTarget,
  checkInput,
  countSchema,
  described,
  fields,
  text,
  type VerbContext,
  VerbError,
  verb,
} from '../verb.js'

const SINCE = 'must be an instant, or the id of the last exchange to skip'
const sinceSchema = v.union(
  [
    countSchema(SINCE),
    textSchema(SINCE, (text) => {
      const reading = readInstant(text)
      return 'value' in reading ? { value: { at: reading.value } } : reading
    }),
  ],
  SINCE,
)

const filterEntries = {
  operation: v.optional(described(text as v.GenericSchema<OperationName, string>, 'only this operation')),
  status: v.optional(described(countSchema('must be a status'), 'only this status')),
  key: v.optional(described(text, 'only this key, by its label; unknown and none are labels')),
  reason: v.optional(
    described(text as v.GenericSchema<Open<Reason>, string>, 'only this reason why the sandbox made up the response'),
  ),
  filter: v.optional(described(text, 'words that must all match, as on the dashboard: 4xx -key:sandbox-pro')),
}
const filterSchema = fields(filterEntries)
type Filter = v.InferOutput<typeof filterSchema>

const selectionSchema = fields({
  ...filterEntries,
  since: v.optional(described(sinceSchema, 'after this id, or from this instant on')),
  limit: v.optional(described(countSchema('must be a number of exchanges'), 'only the newest n')),
  before: v.optional(described(countSchema('must be the id of an exchange'), 'only before this id')),
})

/** A timer of Node's cannot be longer than 24 days. */
const timeLimitSchema = textSchema('must be a duration such as 30s', (text) => readDuration(text, 1, DAY_MS))

const replaySchema = fields({
  id: described(countSchema('must be the id of an exchange'), 'its id'),
  key: v.optional(described(text, 'the API key; required if the log does not have it')),
  method: v.optional(v.pipe(text, v.regex(/^[A-Za-z]{1,20}$/, 'must be an HTTP method'))),
  target: v.optional(
    described(v.pipe(text, v.regex(/^\/[\x21-\x7e]*$/, 'must be a path with an optional query')), 'path and query'),
  ),
  headers: v.optional(
    described(
      recordSchema(text, v.nullable(text), 'must be an object of headers'),
      'headers to add or replace; null removes one',
    ),
  ),
  body: v.optional(text),
  timeout: v.optional(described(timeLimitSchema, 'time limit (default: 30s)')),
})
type Replay = v.InferOutput<typeof replaySchema>

export const requestVerbs = {
  'requests.list': verb('GET /requests', 'List requests and responses, oldest first', {
    input: selectionSchema,
    args: [],
    methodName: 'requests',
    command: 'requests list [-f]',
    example: { limit: 1 },
    run: select,
  }),
  'requests.har': verb('GET /requests/har', 'Return the ended exchanges as an HTTP archive (HAR 1.2), without keys', {
    input: selectionSchema,
    args: [],
    command: 'requests list --har',
    example: { limit: 1 },
    run: (context, selection): Har =>
      toHar(select(context, selection), packageVersion, context.space.shared.contract.keyHeaders),
  }),
  events: verb('GET /events', 'List the last 200 changes of the space, oldest first', {
    run: ({ space }) => space.log.events,
  }),
  'requests.replay': verb('POST /requests/{id}/replay', 'Send the request of an exchange again, unchanged or changed', {
    details: 'Returns the new exchange once it has ended.',
    input: replaySchema,
    args: ['id'],
    command: 'requests replay <id>',
    example: { id: 1, method: 'GET' },
    run(): Exchange {
      throw new Error('requests.replay has to run outside the core.')
    },
    runOutsideCore: async ({ target, read }, input) => replay(target, (await read()).space, input),
    text: ({ id }, input) => `Request ${input.id} sent again, as ${id}.`,
  }),
  'requests.clear': verb('DELETE /requests', 'Clear the log', {
    command: 'requests clear',
    run({ space }): readonly Exchange[] {
      space.clearLog()
      return []
    },
    text: () => 'Log cleared.',
  }),
  conduct: verb('GET /conduct', "Report violations of the service's rules, and refusals on each plan", {
    details: 'See [conduct](conduct.md).',
    command: 'conduct',
    run: ({ space }) => conductReport(space),
  }),
  'conduct.expect': verb('POST /conduct/expected', 'Excuse the violations of a rule; refused if it has none', {
    details: 'Call it after the request.',
    input: fields({ rule: described(oneOf(VIOLATIONS), 'the rule') }),
    methodName: 'expectViolation',
    canUndo: false,
    example: { rule: 'invalid-request' },
    run({ space }, { rule }) {
      const count = space.conduct.excuse(rule)
      if (count > 0) return { rule, excused: count }
      const broken = conductReport(space).violations.map((finding) => finding.rule)
      const others = broken.length === 0 ? 'There are no violations.' : `Broken rules: ${broken.join(', ')}.`
      throw new VerbError('not_found', `No ${rule} in this space so far. ${others} Call this after the request.`)
    },
    text: ({ rule, excused }) => `${rule} excused: ${excused === 1 ? 'one request' : `${excused} requests`}.`,
  }),
}

function select(
  { space, wall }: VerbContext,
  { since, before = Number.POSITIVE_INFINITY, limit, ...filter }: v.InferOutput<typeof selectionSchema>,
): readonly Exchange[] {
  const isWanted = exchangeTest(space, filter, wall)
  const isWithin = ({ id, at }: ExchangeRecord) =>
    id < before && (since === undefined || (typeof since === 'number' ? id > since : at >= since.at))
  const found = [...space.log].filter((record) => isWanted(record) && isWithin(record))
  const newest = found.slice(limit === undefined ? 0 : Math.max(0, found.length - limit))
  return newest.map((record) => exchangeView(record, wall))
}

/** @returns a test for the selected exchanges. @throws VerbError */
export function readFilter(space: Space, given: object): (record: ExchangeRecord) => boolean {
  return exchangeTest(space, checkInput({ input: filterSchema }, given) as Filter)
}

/** The log has labels, but a filter may also name the key. */
function exchangeTest(
  space: Space,
  { key, operation, status, reason, filter = '' }: Filter,
  wall?: EpochMs,
): (record: ExchangeRecord) => boolean {
  const { operations } = space.shared.contract
  if (operation !== undefined && operations.every(({ id }) => id !== operation)) {
    const message = unknownOperation(
      operation,
      operations.map(({ id }) => id),
    )
    throw new VerbError('invalid_request', message)
  }
  const apiKey = key === undefined ? undefined : space.shared.keys.find(key)
  const label = apiKey === undefined ? key : keyLabel(apiKey)
  const matches = filterTest(filter)
  return (record) =>
    (operation === undefined || record.operation === operation) &&
    (status === undefined || (record.how !== undefined && record.status === status)) &&
    (label === undefined || record.key === label) &&
    (reason === undefined || record.reason === reason) &&
    (matches === undefined || matches(exchangeView(record, wall)))
}

const REPLAY_TIMEOUT_MS: DurationMs = 30 * SECOND_MS
/** Replicas receive the end of an exchange through the log. */
const END_TIMEOUT_MS: DurationMs = 5 * SECOND_MS

async function replay({ send, spaces }: ControlTarget, space: Space, input: Replay): Promise<Exchange> {
  const request = requestAgain(space, input)
  const signal = AbortSignal.timeout(input.timeout ?? REPLAY_TIMEOUT_MS)
  let unfollow = () => {}
  let end: Promise<Exchange | undefined> | undefined
  try {
    const response = await send(new Request(request, { signal }), ({ exchange }) => {
      const log = exchange && spaces.get(exchange.space)?.log
      end = new Promise((resolve) => {
        if (log === undefined) return resolve(undefined)
        unfollow = log.follow({
          onEnded: (record) => record.position === exchange?.position && resolve(exchangeView(record)),
          onCleared: () => resolve(undefined),
          end: () => resolve(undefined),
        })
      })
    })
    await response.text()
  } catch {
    // The exchange shows the fault or timeout.
  }
  const timeout = new Promise<undefined>((resolve) => {
    AbortSignal.timeout(END_TIMEOUT_MS).addEventListener('abort', () => resolve(undefined))
  })
  const ended = await Promise.race([end, timeout])
  unfollow()
  if (ended !== undefined) return ended
  const message = `The request of exchange ${input.id} was sent again, but its end is not in the log.`
  throw new VerbError('conflict', message)
}

/** Describe the connection, or are computed for each request. */
const NOT_SENT_AGAIN: readonly string[] = ['authorization', 'connection', 'content-length', 'host', 'transfer-encoding']
const NO_KEY = 'none'

/** @throws VerbError if the log does not have the whole request */
function requestAgain(space: Space, input: Replay): Request {
  const record = [...space.log].find(({ id }) => id === input.id)
  if (record === undefined) throw new VerbError('not_found', `The log of this space has no exchange ${input.id}.`)
  const { id } = record
  const conflict = (message: string) => new VerbError('conflict', message)
  const view = exchangeView(record)
  const { method, request: sent } = view
  if (method === UNREADABLE)
    throw conflict(`The request of exchange ${id} could not be read, so it cannot be sent again.`)
  if (input.body === undefined && isCut(sent))
    throw conflict(`The log only has the beginning of the body of exchange ${id}. Set body.`)
  if (input.body === undefined && sent.body.includes(NO_CHARACTER))
    throw conflict(`The body of exchange ${id} is not text, so the log does not have it. Set body.`)
  const key = input.key ?? openKey(space, record)
  const { contract, basePath } = space.shared
  const verb = (input.method ?? method).toUpperCase()
  const target = input.target ?? addressOf(view)
  const route = findRoute(contract, basePath, { method: verb }, splitTarget(target).path)
  const choices = keyChoices(contract, route.kind === 'operation' ? route.operation.keys : undefined)
  const omitted = new Set([...NOT_SENT_AGAIN, ...contract.keyHeaders.map(({ name }) => name.toLowerCase())])
  const headers = new Headers()
  for (const [name, value] of Object.entries({ ...sent.headers, ...input.headers }))
    if (value !== null && !omitted.has(name.toLowerCase()) && !value.includes(MASK))
      sendable(`header ${quoted(name)}`, 'name or value is not valid in HTTP', () => headers.set(name, value))
  if (key !== undefined)
    sendable('key', 'it has a character that is not allowed in headers', () => {
      for (const [name, value] of keyParts(choices, key).headers) headers.set(name, value)
    })
  const body = input.body ?? sent.body
  const isRead = verb === 'GET' || verb === 'HEAD'
  const hasBody = !isRead && body !== ''
  if (isRead && body !== '' && (input.method ?? input.body) === undefined)
    throw conflict(`Exchange ${id} is a ${verb} with a body, which cannot be sent again. Set method.`)
  const queries = (contract.otherKeys ?? []).filter((item) => item.in === 'query')
  const sentTo = queries.reduce((to, { name }) => replaceInQuery(to, name, () => encodeURIComponent(key ?? '')), target)
  return sendable(`request ${quoted(`${verb} ${target}`)}`, 'set another method or target', () => {
    // A key that is given may name another space.
    const at = /~[^+]/.test(key ?? '') ? '' : spacePath(space.name)
    return new Request(`http://localhost${at}${sentTo}`, { method: verb, headers, ...(hasBody ? { body } : {}) })
  })
}

/** @throws VerbError without the message of fetch, which would reveal a key */
function sendable<T>(what: string, why: string, make: () => T): T {
  try {
    return make()
  } catch {
    throw new VerbError('invalid_request', `The ${what} cannot be sent: ${why}.`)
  }
}

/** @returns the key of the request; undefined if it had none. @throws VerbError if it is secret or unknown */
function openKey(space: Space, { id, key, sender }: ExchangeRecord): string | undefined {
  if (key === NO_KEY) return undefined
  const apiKey = space.shared.keys.find(key)
  if (apiKey !== undefined && keyLabel(apiKey) === apiKey.key) return loggedKeyText({ key, sender })
  throw new VerbError('conflict', `The log does not have the key of exchange ${id} (${key}). Set key.`)
}
