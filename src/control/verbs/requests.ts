import * as v from 'valibot'
import type { Space } from '../../core/space.js'
import { labelOf } from '../../domain/keys.js'
import { UNREAD } from '../../domain/messages.js'
import { MASK } from '../../domain/redaction.js'
import { type DurationMs, SECOND_MS } from '../../domain/time.js'
import { LOG_BODY_CHARACTERS } from '../../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import { type Exchange, exchangeView } from '../../exchanges/exchange-view.js'
import { type Har, toHar } from '../../exchanges/har.js'
import { quoted } from '../../options/problem.js'
import { waitSchema } from '../../options/values/duration.js'
import { readInstant } from '../../options/values/instant.js'
import { textSchema } from '../../options/values/reading.js'
import { packageVersion } from '../../system/package-files.js'
import { countSchema, fields, text } from '../fields.js'
import { type VerbContext, VerbError, verb } from '../verb.js'

const SINCE = 'must be the id of an exchange (those after it are shown) or an instant'

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

export const filterSchema = fields(filterEntries)
export type Filter = v.InferOutput<typeof filterSchema>

const selectionSchema = fields({
  ...filterEntries,
  since: v.optional(sinceSchema),
  limit: v.optional(countSchema('must be a number of exchanges')),
})

export const list = verb({
  method: 'GET',
  path: '/requests',
  summary:
    'Exchanges of a space, oldest first; filters: operation, status, key, reason, since (id or instant), limit (only the newest)',
  input: selectionSchema,
  run: selected,
})

export const har = verb({
  method: 'GET',
  path: '/requests/har',
  summary: 'The same exchanges as an HTTP archive (HAR 1.2), without keys and without what is under way',
  input: selectionSchema,
  run: (context, selection): Har => toHar(selected(context, selection), packageVersion),
})

function selected(
  { space, wall }: VerbContext,
  { since, limit, ...filter }: v.InferOutput<typeof selectionSchema>,
): readonly Exchange[] {
  const wanted = filterIn(space, filter)
  const found = [...space.log].filter((record) => matches(record, wanted) && isAfter(record, since))
  return found
    .slice(limit === undefined ? 0 : Math.max(0, found.length - limit))
    .map((record) => exchangeView(record, wall))
}

/** A replayed request that hangs is given up after this, or what is said. */
const REPLAY_TIMEOUT_MS: DurationMs = 30 * SECOND_MS

export const replay = verb({
  method: 'POST',
  path: '/requests/{id}/replay',
  summary:
    'Sends the request of an exchange again, as it was or with another key, method, target, headers (null takes one away) or body, and gives the new exchange once it has ended',
  input: fields({
    id: countSchema('must be the id of an exchange'),
    key: v.optional(text),
    method: v.optional(v.pipe(text, v.regex(/^[A-Za-z]{1,20}$/, 'must be a method of HTTP'))),
    target: v.optional(v.pipe(text, v.regex(/^\/[\x21-\x7e]*$/, 'must be a path, with its query if it has one'))),
    headers: v.optional(v.record(text, v.nullable(text), 'must be a map of headers')),
    body: v.optional(text),
    timeout: v.optional(waitSchema),
  }),
  run(): Exchange {
    throw new Error('Only the edge sends requests.')
  },
  async send({ send, spaces }, { space }, input): Promise<Exchange> {
    const { request, given } = requestAgain(space, input)
    const signal = AbortSignal.timeout(input.timeout ?? REPLAY_TIMEOUT_MS)
    let ended: Exchange | undefined
    let unfollow = () => {}
    try {
      const response = await send(new Request(request, { signal }), ({ exchange }) => {
        if (exchange === undefined) return
        unfollow =
          spaces.get(exchange.space)?.log.follow({
            onEnded(record) {
              if (record.position === exchange.position) ended = exchangeView(record)
            },
            end() {},
          }) ?? unfollow
      })
      await response.text()
    } catch {
      // A fault, or given up: the exchange says so.
    } finally {
      unfollow()
    }
    if (ended === undefined)
      throw new VerbError('conflict', `${given} was sent again, but the log was cleared before it ended.`)
    return ended
  },
})

/** Of its connection, or worked out afresh. */
const NOT_SENT_AGAIN: readonly string[] = ['authorization', 'connection', 'content-length', 'host', 'transfer-encoding']

/** @throws VerbError where not all of it is known any more */
function requestAgain(space: Space, input: Replay): { readonly request: Request; readonly given: string } {
  const record = [...space.log].find(({ id }) => id === input.id)
  if (record === undefined)
    throw new VerbError('not_found', `There is no exchange ${input.id} in the log of this space.`)
  const given = `The request of exchange ${record.id}`
  const { method, path, query, request: sent } = exchangeView(record)
  if (method === UNREAD) throw new VerbError('conflict', `${given} could not be read, so it cannot be sent again.`)
  if (input.body === undefined && sent.body.length >= LOG_BODY_CHARACTERS)
    throw new VerbError('conflict', `The body of exchange ${record.id} is not kept whole. Give another one in body.`)
  const key = input.key ?? openKey(space, record)
  const headers = new Headers()
  for (const [name, value] of Object.entries({ ...sent.headers, ...input.headers }))
    if (value !== null && !NOT_SENT_AGAIN.includes(name.toLowerCase()) && !value.includes(MASK))
      sendable(`header ${quoted(name)}`, 'its name or its value is not valid in HTTP', () => headers.set(name, value))
  if (key !== undefined)
    sendable('key', 'it has a character that no header may have', () => headers.set('authorization', `Bearer ${key}`))
  const asked = (input.method ?? method).toUpperCase()
  const body = input.body ?? sent.body
  const isBodiless = asked === 'GET' || asked === 'HEAD' || body === ''
  const target = input.target ?? (query === '' ? path : `${path}?${query}`)
  const request = sendable(`request ${quoted(`${asked} ${target}`)}`, 'give another method or target', () => {
    return new Request(`http://localhost${target}`, { method: asked, headers, ...(isBodiless ? {} : { body }) })
  })
  return { request, given }
}

/** @throws VerbError for what fetch refuses, whose own words would tell a key */
function sendable<T>(what: string, why: string, make: () => T): T {
  try {
    return make()
  } catch {
    throw new VerbError('invalid_request', `The ${what} cannot be sent: ${why}.`)
  }
}

/** The key as it was sent; undefined where none was. @throws VerbError if it is a secret, or one that is not known */
function openKey(space: Space, { id, key }: ExchangeRecord): string | undefined {
  if (key === NO_KEY) return undefined
  const apiKey = space.findKey(key)
  if (apiKey !== undefined && labelOf(apiKey) === apiKey.key) return space.name === '' ? key : `${key}~${space.name}`
  throw new VerbError('conflict', `The key of exchange ${id} (${key}) is not in the log. Give one in key.`)
}

interface Replay {
  readonly id: number
  readonly key?: string | undefined
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly headers?: Readonly<Record<string, string | null>> | undefined
  readonly body?: string | undefined
}

/** Label of a caller who sent no key. */
const NO_KEY = 'none'

export const clear = verb({
  method: 'DELETE',
  path: '/requests',
  summary: 'Forgets the exchanges of a space',
  run({ space, spaces, wall }) {
    const before = { kind: 'log', log: space.log.save() } as const
    space.log.clear()
    spaces.remember({ verb: 'requests.clear', space: space.name, at: wall, before })
    return []
  },
})

/** A filter that names a key by itself, or by its label, which is what the log has. */
export function filterIn(space: Space, { key, ...filter }: Filter): Filter {
  if (key === undefined) return filter
  const apiKey = space.findKey(key)
  return { ...filter, key: apiKey === undefined ? key : labelOf(apiKey) }
}

export function matches(record: ExchangeRecord, { operation, status, key, reason }: Filter): boolean {
  return (
    (operation === undefined || record.operation === operation) &&
    (status === undefined || (record.how !== undefined && record.status === status)) &&
    (key === undefined || record.key === key) &&
    (reason === undefined || record.reason === reason)
  )
}

function isAfter(record: ExchangeRecord, since: number | { readonly at: number } | undefined): boolean {
  if (since === undefined) return true
  return typeof since === 'number' ? record.id > since : record.at >= since.at
}
