import type { Values } from '../contract/contract.js'
import { isNode } from '../contract/json.js'
import type { LinkData, ResourceData } from '../contract/resource-data.js'
import type { RecordChange } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'
import type { Space } from './space.js'

type PutChange = RecordChange & { readonly kind: 'put' }

/** Records that refer to each other would have no end. */
const MAX_DEPTH = 3

/** A record with the records that it refers to as they are now. One that is not there stays as it was stored. */
export function linked(value: Values, { links }: Pick<ResourceData, 'links'>, space: Space, depth = 0): Values {
  if (links === undefined || depth > MAX_DEPTH) return value
  const { '': self } = links
  if (self !== undefined) return linkedTo(value, self, space, depth) as Values
  const shown = Object.entries(links).map(([name, link]) => {
    const kept = value[name]
    const one = (item: unknown) => linkedTo(item, link, space, depth)
    return [name, Array.isArray(kept) ? kept.map(one) : one(kept)] as const
  })
  return { ...value, ...Object.fromEntries(shown.filter(([, item]) => item !== undefined)) }
}

function linkedTo(kept: unknown, { resource, key, only }: LinkData, space: Space, depth: number): unknown {
  const id = isNode(kept) ? kept[key] : undefined
  const found = id === undefined ? undefined : space.state.records.get(resource)?.get([], id)
  if (found === undefined) return kept
  const target = space.shared.contract.resources.find(({ name }) => name === resource)
  const whole = linked(found, target ?? {}, space, depth + 1)
  const own = only.filter((name) => whole[name] !== undefined).map((name) => [name, whole[name]] as const)
  return { ...Object(kept), ...Object.fromEntries(own) }
}

/** Which record a new one refers to in vain. A resource without records has not been set up, and refuses nothing. */
export function missingLink(value: Values, { resource, body }: ActionRequest, space: Space): string | undefined {
  const { aliases, links = {}, references = {} } = resource
  const sentNames = new Map(Object.entries(aliases ?? {}).map(([sent, property]) => [property, sent]))
  const idsIn = (property: string, key: string) => [value[property]].flat().map((item) => Object(item)[key])
  const all = [
    ...Object.entries(links).map(([property, link]) => [property, link.resource, idsIn(property, link.key)] as const),
    ...Object.entries(references).map(([property, name]) => [property, name, [value[property]]] as const),
  ]
  for (const [property, name, ids] of all) {
    const records = space.state.records.get(name)
    if (body[property] === undefined || records === undefined || records.size === 0) continue
    const lost = ids.find((id) => id !== undefined && id !== null && records.get([], id) === undefined)
    if (lost !== undefined)
      return `${name} has no record ${JSON.stringify(String(lost))} (${sentNames.get(property) ?? property}).`
  }
  return undefined
}

/** A change of a record, and of the same one in other resources. */
export function withTwins(change: PutChange, { twins = [] }: ResourceData, space: Space): readonly PutChange[] {
  const { value } = change.record
  const others = twins.flatMap(({ resource, key, only }): PutChange[] => {
    const { single, properties } = space.shared.contract.resources.find(({ name }) => name === resource) ?? {}
    const records = space.state.records.get(resource)
    const [first] = single === undefined ? [] : (records?.places([], []) ?? [])
    const one = first === undefined ? single?.initial : records?.at(first)
    const known = single === undefined ? records?.get([], value[key]) : one
    if (known === undefined || String(known[key]) !== String(value[key])) return []
    const isKept = (name: string) => !only.includes(name) || (properties?.[name]?.required && value[name] === undefined)
    const kept = Object.entries(known).filter(([name]) => isKept(name))
    const taken = only.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]] as const]))
    return [{ kind: 'put', resource, record: { scope: [], value: Object.fromEntries([...kept, ...taken]) } }]
  })
  return [change, ...others]
}
