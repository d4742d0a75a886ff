import { join } from 'node:path'
import type { Contract } from '../contract/contract.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import type { ResponseRules } from '../contract/response-rules.js'
import { basePathOf } from '../domain/base-address.js'
import { Failure } from '../domain/failures.js'
import { formatSize } from '../domain/numbers.js'
import { hider, redactAddress } from '../domain/redaction.js'
import type { DurationMs } from '../domain/time.js'
import { type Forward, MAX_READ_BODY, type UpstreamOutcome, type UpstreamWrites } from '../domain/upstream.js'
import { isObject } from '../drift/bodies.js'
import { type ContractViolation, findViolations, type SeenExchange } from '../drift/find-violations.js'
import { messageOf } from '../system/message-of.js'
import { isSymbolicLink, makeFolder, replaceFile } from '../system/regular-file.js'
import type { Environment } from '../system/this-process.js'
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

interface Recorder {
  record(forward: Forward, outcome: UpstreamOutcome): void
  close(): void
}

type Item = Readonly<Record<string, unknown>>
const FILES = { pets: 'pets.json', orders: 'orders.json' } as const
const RECORDED: readonly string[] = ['listPets', 'getPet', 'createPet', 'listOrders']
const MAX_WRITE_DELAY_MS = 1000

interface RecorderNeeds {
  readonly contract: Contract
  keptPet(value: object): object | undefined
  hide(text: string): string
  warn(message: string): void
}

/** The last state of each item counts. @throws Failure CANNOT_WRITE, also for symbolic links */
function openRecorder(folder: string, { contract, keptPet, hide, warn }: RecorderNeeds): Recorder {
  prepareFolder(folder)
  const pets = new Map<string, Item>()
  let order: string[] = []
  let orders: readonly Item[] | undefined
  let timer: NodeJS.Timeout | undefined

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    try {
      if (pets.size > 0)
        writeItems(
          FILES.pets,
          order.map((id) => pets.get(id) ?? {}),
        )
      if (orders !== undefined) writeItems(FILES.orders, orders)
    } catch (error) {
      warn(`Recorded responses cannot be written to "${folder}": ${messageOf(error)}`)
    }
  }

  function writeItems(name: string, items: readonly Item[]): void {
    const lines = items.map((item) => `  ${hide(stringifyJson(item))}`)
    replaceFile(join(folder, name), `[\n${lines.join(',\n')}\n]\n`)
  }

  function keep(operation: string, value: unknown): boolean {
    if (operation === 'listOrders') {
      if (!Array.isArray(value) || !value.every(isObject)) return false
      orders = value
      return true
    }
    const kept = [value]
      .flat()
      .flatMap((item: unknown) => (isObject(item) ? (keptPet(item) ?? []) : []))
      .filter(isObject)
    for (const pet of kept) pets.set(String(pet.id), pet)
    // Lists show the newest first.
    const ids = [...new Set(kept.map(({ id }) => String(id)))].reverse()
    order = mergeOrder(order, ids, operation === 'createPet')
    return kept.length > 0
  }

  return {
    record({ method, target }, outcome) {
      if (outcome.kind !== 'response' || outcome.status < 200 || outcome.status > 299) return
      const route = contract.route(method, target.split('?', 1)[0] ?? '')
      if (route.kind !== 'operation' || !RECORDED.includes(route.operation.id)) return
      let value: unknown
      try {
        value = parseShallowJson(outcome.body)
      } catch {
        return
      }
      if (keep(route.operation.id, value)) timer ??= setTimeout(write, MAX_WRITE_DELAY_MS)
    },
    close() {
      if (timer !== undefined) write()
    },
  }
}

function prepareFolder(folder: string): void {
  try {
    if (!isSymbolicLink(folder)) makeFolder(folder)
    const link = [folder, ...Object.values(FILES).map((name) => join(folder, name))].find(isSymbolicLink)
    if (link !== undefined) throw new Error(`"${link}" is a symbolic link`)
  } catch (error) {
    const message = `--record cannot write to the folder "${folder}" (${messageOf(error)}).`
    throw new Failure('CANNOT_WRITE', message, { cause: error })
  }
}

/**
 * Sorts ids by where they were seen last. A new id goes after the one before it, else before the next, else by size.
 *
 * @param isLast they were just created; both lists are oldest first
 */
function mergeOrder(known: readonly string[], seen: readonly string[], isLast: boolean): string[] {
  const before = new Set(known)
  const among = new Set(seen)
  const sorted = seen.filter((id) => before.has(id))
  const next = sorted.values()
  const merged = known.map((id) => (among.has(id) ? (next.next().value ?? id) : id))
  const first = sorted[0] ?? (isLast ? undefined : merged.find((id) => BigInt(id) > BigInt(seen[0] ?? id)))
  let place = first === undefined ? merged.length : merged.indexOf(first)
  const result = merged.slice(0, place)
  for (const id of seen) {
    if (before.has(id)) {
      const at = merged.indexOf(id, place)
      result.push(...merged.slice(place, at + 1))
      place = at + 1
    } else result.push(id)
  }
  return [...result, ...merged.slice(place)]
}
