import type { Contract, Operation } from '../../contract/contract.js'
import { isNode, type Node } from '../../contract/json.js'
import { parentKey } from '../../contract/parent-key.js'
import { idInPath } from '../../contract/resource-data.js'
import { isId } from '../../drift/bodies.js'
import { SeenItems } from './seen-items.js'

/** Which records a service has, as its responses show. */
export class KnownRecords {
  readonly #contract: Contract
  /** By path of their collection. */
  readonly #collections = new Map<string, SeenItems>()
  /** By resource, as it was listed. */
  readonly #firstRecords = new Map<string, Node>()

  constructor(contract: Contract) {
    this.#contract = contract
  }

  itemsOf({ path }: Operation): SeenItems {
    const known = this.#collections.get(collectionOf(path)) ?? new SeenItems()
    this.#collections.set(collectionOf(path), known)
    return known
  }

  keepFirst({ action }: Operation, listed: unknown): void {
    if (action?.kind !== 'list' || this.#firstRecords.has(action.resource)) return
    const { id } = this.#contract.resources.find(({ name }) => name === action.resource) ?? {}
    const first: unknown = Array.isArray(listed) ? listed[0] : undefined
    if (id !== undefined && isNode(first) && first[id.property] !== undefined)
      this.#firstRecords.set(action.resource, first)
  }

  /** Ids of records that exist, by path parameter: of the parents, then of the record itself. */
  knownIds(operation: Operation): ReadonlyMap<string, unknown> {
    const { path, parameters, action } = operation
    const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    const resource = this.#contract.resources.find(({ name }) => name === action?.resource)
    const outermost = this.#collections.get(path.split('/{', 1)[0] ?? '')?.ids[0]
    const parents = action?.pathFilters ?? resource?.parents ?? []
    const ids = names.map((name, index) => {
      if (resource === undefined) return names.length === 1 && outermost
      const isWhole = operation.names?.[name] !== undefined
      const last = isWhole && action?.kind === 'list' ? parents.at(-1)?.resource : isWhole ? resource.name : undefined
      const of = last ?? parents[index]?.resource ?? (index < parents.length ? '' : resource.name)
      const data = this.#contract.resources.find((resourceData) => resourceData.name === of)
      const first = this.#firstRecords.get(of)
      if (data === undefined || first === undefined) return undefined
      const other = isWhole ? undefined : parentKey(name, data)
      const known = first[other ?? data.id.property]
      return isWhole || other !== undefined ? known : idInPath(data.id, known)
    })
    return new Map(names.flatMap((name, index) => (isId(ids[index]) ? [[name, ids[index]] as const] : [])))
  }

  /** Whether each id in the path is of a record that exists. The one record of a path may be missing. */
  areIdsKnown(operation: Operation): boolean {
    const names = operation.parameters.filter((parameter) => parameter.in === 'path')
    const { single } = this.#contract.resources.find(({ name }) => name === operation.action?.resource) ?? {}
    const { pathFilters, kind } = operation.action ?? {}
    // The first record may be of another parent.
    const isOfParent = pathFilters === undefined || kind === 'list'
    return names.length > 0 && this.knownIds(operation).size === names.length && single === undefined && isOfParent
  }
}

/** `/pets` of `/pets/{petId}`. */
export function collectionOf(path: string): string {
  return path.replace(/\/\{[^{}]*\}$/, '')
}
