import { canonicalText } from '../contract/canonical-text.js'
import type { Values } from '../contract/contract.js'
import { quote } from '../contract/excerpt.js'
import { isNode, MAX_BODY_DEPTH, parseShallowJson, stringifyJson } from '../contract/json.js'
import type { ResourceData } from '../contract/resource-data.js'

/** Each may move a long list. */
const MAX_OPERATIONS = 1000
/** Characters of the values that are copied and compared, which a small patch can double again and again. */
const MAX_TEXT = 4 * 1024 * 1024

class Refused extends Error {}

/** A record after a JSON Patch; or why it cannot be applied, as a sentence part. @source RFC 6902 */
export function patched(known: Values, patch: unknown, { properties }: ResourceData): Values | string {
  const operations = Array.isArray(patch) ? (patch as readonly unknown[]) : []
  const root = { '': structuredClone(known) as unknown }
  let budget = MAX_TEXT
  const spend = (text: string) => {
    budget -= text.length
    if (budget < 0) throw new Refused('copies or compares too much')
    return text
  }
  const copyOf = (value: unknown) => parseShallowJson(spend(stringifyJson(value)), true, MAX_BODY_DEPTH)
  let at = 0
  try {
    if (operations.length > MAX_OPERATIONS) return `the patch must have at most ${MAX_OPERATIONS} operations`
    for (; at < operations.length; at++) {
      const { op, path, from, value }: Readonly<Record<string, unknown>> = Object(operations[at])
      const to = placeOf(root, path)
      if (value === undefined && /^(?:add|replace|test)$/.test(String(op))) throw new Refused('has no value')
      if (op === 'add') add(to, value)
      else if (op === 'remove') take(to)
      else if (op === 'replace') replace(to, value)
      else if (op === 'copy') add(to, copyOf(read(placeOf(root, from))))
      else if (op === 'move') {
        if (`${path}/`.startsWith(`${from}/`) && path !== from) throw new Refused('moves a value into itself')
        const moved = take(placeOf(root, from))
        add(placeOf(root, path), moved)
      } else if (op !== 'test') throw new Refused(`has an unknown op (it is ${quote(op)})`)
      else if (spend(canonicalText(read(to))) !== canonicalText(value)) throw new Refused('fails')
    }
    const after = parseShallowJson(stringifyJson(root[''] ?? null), true, MAX_BODY_DEPTH)
    if (!isNode(after)) return 'the patch must leave an object'
    const isLost = (name: string) => properties[name]?.required === true && !Object.hasOwn(after, name)
    const lost = Object.keys(known).find((name) => isLost(name) && properties[name]?.readOnly !== true)
    return lost === undefined ? after : `the patch removes ${lost}, which is required`
  } catch (error) {
    if (error instanceof SyntaxError) return `the patch makes a record of more than ${MAX_BODY_DEPTH} levels`
    if (!(error instanceof Refused)) throw error
    return `the patch is not applied, as its operation ${at + 1} ${error.message}`
  }
}

interface PatchPlace {
  readonly holder: Record<string, unknown> | unknown[]
  readonly key: string
}

/** @source RFC 6901 */
function placeOf(root: Record<string, unknown>, pointer: unknown): PatchPlace {
  const steps = String(pointer).split('/')
  if (steps[0] !== '' || typeof pointer !== 'string' || steps.length > MAX_BODY_DEPTH)
    throw new Refused(`has no usable path (it is ${quote(pointer)})`)
  const keys = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const key = keys.pop() ?? ''
  const holder = keys.reduce<unknown>((value, name) => read({ holder: holderIn(value), key: name }), root)
  return { holder: holderIn(holder), key }
}

function holderIn(value: unknown): PatchPlace['holder'] {
  if (Array.isArray(value) || isNode(value)) return value
  throw missing()
}

function missing(): Refused {
  return new Refused('names a place that is not there')
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/

function has({ holder, key }: PatchPlace): boolean {
  return (Array.isArray(holder) ? INDEX.test(key) : key !== '__proto__') && Object.hasOwn(holder, key)
}

function read(place: PatchPlace): unknown {
  if (!has(place)) throw missing()
  return Reflect.get(place.holder, place.key)
}

function replace(place: PatchPlace, value: unknown): void {
  if (!has(place)) throw missing()
  Reflect.set(place.holder, place.key, value)
}

function take(place: PatchPlace): unknown {
  const value = read(place)
  const { holder, key } = place
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else Reflect.deleteProperty(holder, key)
  return value
}

function add({ holder, key }: PatchPlace, value: unknown): void {
  const index = key === '-' ? Object(holder).length : Number(key)
  if (!Array.isArray(holder)) {
    if (key === '__proto__') throw missing()
    holder[key] = value
  } else if ((key === '-' || INDEX.test(key)) && index <= holder.length) holder.splice(index, 0, value)
  else throw missing()
}
