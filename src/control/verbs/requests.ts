import * as v from 'valibot'
import { conductReport } from '../../conduct/conduct-report.js'
import type { Space } from '../../core/space.js'
import { keyLabel, sentKeyText } from '../../domain/keys.js'
import { UNREAD } from '../../domain/messages.js'
import { MASK } from '../../domain/redaction.js'
import { type DurationMs, SECOND_MS } from '../../domain/time.js'
import { filterExchanges } from '../../exchanges/exchange-filter.js'
import {
  type Exchange,
  type ExchangeRecord,
  exchangeView,
  LOG_BODY_CHARACTERS,
} from '../../exchanges/exchange-record.js'
import { type Har, toHar } from '../../exchanges/har.js'
import { quoted } from '../../options/problem.js'
import { readInstant } from '../../options/values/instant.js'
import { textSchema, waitSchema } from '../../options/values/reading.js'
import { packageVersion } from '../../system/package-files.js'
import {
  type ControlTarget,
  checkInput,
  countSchema,
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
  operation: v.optional(text),
  status: v.optional(countSchema('must be a status')),
  key: v.optional(text),
  reason: v.optional(text),
}
const filterSchema = fields(filterEntries)
type Filter = v.InferOutput<typeof filterSchema>

const selectionSchema = fields({
  ...filterEntries,
  since: v.optional(sinceSchema),
  limit: v.optional(countSchema('must be a number of exchanges')),
  before: v.optional(countSchema('must be the id of an exchange')),
  filter: v.optional(text),
})

const bucketSchema = (message: string, most: number) =>
  v.optional(v.pipe(countSchema(message), v.minValue(1, message), v.maxValue(most, message)))
const trafficSchema = fields({
  bucketSeconds: bucketSchema('must be a number of seconds from 1 to 86400', 86_400),
  buckets: bucketSchema('must be a number from 1 to 1440', 1440),
})

const replaySchema = fields({
  id: countSchema('must be the id of an exchange'),
  key: v.optional(text),
  method: v.optional(v.pipe(text, v.regex(/^[A-Za-z]{1,20}$/, 'must be an HTTP method'))),
  target: v.optional(v.pipe(text, v.regex(/^\/[\x21-\x7e]*$/, 'must be a path with an optional query'))),
  headers: v.optional(v.record(text, v.nullable(text), 'must be a map of headers')),
  body: v.optional(text),
  timeout: v.optional(waitSchema),
})
type Replay = v.InferOutput<typeof replaySchema>

export const requestVerbs = {
  'requests.list': verb(
    'GET /requests',
    'Exchanges of a space, oldest first; filters: operation, status, key, reason, since (id or instant), before (id), limit (only the newest), filter (as on the dashboard)',
    { input: selectionSchema, run: select },
  ),
  'requests.har': verb(
    'GET /requests/har',
    'The same exchanges as an HTTP archive (HAR 1.2), without keys and open exchanges',
    {
      input: selectionSchema,
      run: (context, selection): Har =>
        toHar(select(context, selection), packageVersion, context.space.shared.contract.keyHeaders),
    },
  ),
  'requests.traffic': verb(
    'GET /requests/traffic',
    'Ended exchanges by outcome and time, also those that have left the log, and the last changes of the space',
    {
      input: trafficSchema,
      run: ({ space, wall }, { bucketSeconds = 1, buckets = 60 }) => ({
        ...space.log.tally.buckets(bucketSeconds, buckets, space.now(wall)),
        events: space.log.events,
      }),
    },
  ),
  'requests.replay': verb(
    'POST /requests/{id}/replay',
    'Sends the request of an exchange again, unchanged or with another key, method, target, headers (null removes one) or body. Returns the new exchange once it has ended',
    {
      input: replaySchema,
      run(): Exchange {
        throw new Error('requests.replay has to run beside the machine.')
      },
      beside: async ({ target, read }, input) => replay(target, (await read()).space, input),
    },
  ),
  'requests.clear': verb('DELETE /requests', 'Clears the log of a space', {
    canUndo: true,
    run({ space }): readonly Exchange[] {
      space.clearLog()
      return []
    },
  }),
  conduct: verb(
    'GET /conduct',
    'Violations of the rules by the clients of a space, and how many requests each plan would have refused',
    { run: ({ space }) => conductReport(space) },
  ),
}

function select(
  { space, wall }: VerbContext,
  { since, before = Number.POSITIVE_INFINITY, limit, filter = '', ...fields }: v.InferOutput<typeof selectionSchema>,
): readonly Exchange[] {
  const isWanted = withLabel(space, fields)
  const isWithin = ({ id, at }: ExchangeRecord) =>
    id < before && (since === undefined || (typeof since === 'number' ? id > since : at >= since.at))
  const found = [...space.log].filter((record) => isWanted(record) && isWithin(record))
  const newest = <T>(list: readonly T[]) => list.slice(limit === undefined ? 0 : Math.max(0, list.length - limit))
  const view = (record: ExchangeRecord) => exchangeView(record, wall)
  if (filter === '') return newest(found).map(view)
  return newest(filterExchanges(found.map(view), filter))
}

/** @returns a test for the selected exchanges. @throws VerbError */
export function readFilter(space: Space, given: object): (record: ExchangeRecord) => boolean {
  return withLabel(space, checkInput({ input: filterSchema }, given) as Filter)
}

/** The log has labels, but a filter may also name the key. */
function withLabel(space: Space, { key, operation, status, reason }: Filter): (record: ExchangeRecord) => boolean {
  const apiKey = key === undefined ? undefined : space.findKey(key)
  const label = apiKey === undefined ? key : keyLabel(apiKey)
  return (record) =>
    (operation === undefined || record.operation === operation) &&
    (status === undefined || (record.how !== undefined && record.status === status)) &&
    (label === undefined || record.key === label) &&
    (reason === undefined || record.reason === reason)
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
  const { method, path, query, request: sent } = exchangeView(record)
  if (method === UNREAD) throw conflict(`The request of exchange ${id} could not be read, so it cannot be sent again.`)
  if (input.body === undefined && sent.body.length >= LOG_BODY_CHARACTERS)
    throw conflict(`The log only has the beginning of the body of exchange ${id}. Set body.`)
  const key = input.key ?? openKey(space, record)
  const { keyHeaders } = space.shared.contract
  const [keyHeader] = keyHeaders
  const omitted = new Set([...NOT_SENT_AGAIN, ...keyHeaders.map(({ name }) => name.toLowerCase())])
  const headers = new Headers()
  for (const [name, value] of Object.entries({ ...sent.headers, ...input.headers }))
    if (value !== null && !omitted.has(name.toLowerCase()) && !value.includes(MASK))
      sendable(`header ${quoted(name)}`, 'name or value is not valid in HTTP', () => headers.set(name, value))
  if (key !== undefined)
    sendable('key', 'it has a character that is not allowed in headers', () =>
      headers.set(keyHeader.name, keyHeader.prefix + key),
    )
  const verb = (input.method ?? method).toUpperCase()
  const body = input.body ?? sent.body
  const hasBody = verb !== 'GET' && verb !== 'HEAD' && body !== ''
  const target = input.target ?? (query === '' ? path : `${path}?${query}`)
  return sendable(`request ${quoted(`${verb} ${target}`)}`, 'set another method or target', () => {
    return new Request(`http://localhost${target}`, { method: verb, headers, ...(hasBody ? { body } : {}) })
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
  const apiKey = space.findKey(key)
  if (apiKey !== undefined && keyLabel(apiKey) === apiKey.key) return sentKeyText(key, space.name, sender)
  throw new VerbError('conflict', `The log does not have the key of exchange ${id} (${key}). Set key.`)
}
