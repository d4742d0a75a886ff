import { join } from 'node:path'
import type { Contract } from '../contract/contract.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import type { Forward, UpstreamOutcome } from '../domain/upstream.js'
import { makeFolder } from '../system/make-folder.js'
import { messageOf } from '../system/message-of.js'
import { writeRegularFile } from '../system/regular-file.js'

/** Keeps what the real service answers as fixtures. */
export interface Recorder {
  saw(forward: Forward, outcome: UpstreamOutcome): void
  /** Writes what is not written yet. */
  close(): void
}

type Item = Readonly<Record<string, unknown>>

/** What was seen is written so long after it at most. */
const WRITE_WITHIN_MS = 1000

interface RecorderNeeds {
  readonly contract: Contract
  /** An animal as fixtures can have it; undefined for what is none. */
  keptPet(value: object): object | undefined
  /** Hides keys, whoever repeats them. */
  hide(text: string): string
  warn(message: string): void
}

/**
 * Records animals and orders, so that `--fixtures` can serve them later. An animal is as it was seen last;
 * what is none of the contract's is left out.
 */
export function openRecorder(folder: string, { contract, keptPet, hide, warn }: RecorderNeeds): Recorder {
  makeFolder(folder)
  const pets = new Map<string, Item>()
  let orders: readonly Item[] | undefined
  let timer: NodeJS.Timeout | undefined

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    try {
      if (pets.size > 0) keep('pets.json', [...pets.values()].sort(byId))
      if (orders !== undefined) keep('orders.json', orders)
    } catch (error) {
      warn(`What was seen cannot be written to "${folder}": ${messageOf(error)}`)
    }
  }

  function keep(name: string, items: readonly Item[]): void {
    const lines = items.map((item) => `  ${hide(stringifyJson(item))}`)
    writeRegularFile(join(folder, name), `[\n${lines.join(',\n')}\n]\n`)
  }

  function take(operation: string, value: unknown): boolean {
    if (operation === 'listOrders') {
      if (!Array.isArray(value) || !value.every(isItem)) return false
      orders = value
      return true
    }
    const seen = Array.isArray(value) ? value : [value]
    const kept = seen.flatMap((item: unknown) => (isItem(item) ? (keptPet(item) ?? []) : []))
    for (const pet of kept.filter(isItem)) pets.set(String(pet.id), pet)
    return kept.length > 0
  }

  return {
    saw({ method, target }, outcome) {
      if (outcome.kind !== 'answer' || outcome.status < 200 || outcome.status > 299) return
      const route = contract.route(method, target.split('?', 1)[0] ?? '')
      if (route.kind !== 'operation' || !SEEN.includes(route.operation.id)) return
      const value = jsonOf(outcome.body)
      if (take(route.operation.id, value)) timer ??= setTimeout(write, WRITE_WITHIN_MS)
    },
    close() {
      if (timer !== undefined) write()
    },
  }
}

/** Operations whose answers hold what fixtures have. */
const SEEN: readonly string[] = ['listPets', 'getPet', 'createPet', 'listOrders']

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** In the order in which they were given their ids. */
function byId(one: Item, other: Item): number {
  const [a, b] = [BigInt(String(one.id)), BigInt(String(other.id))]
  return a < b ? -1 : Number(a > b)
}

function jsonOf(body: string): unknown {
  try {
    return parseShallowJson(body)
  } catch {
    return undefined
  }
}
