import type { Values } from '../contract/contract.js'
import type { ResourceAction, ResourceData } from '../contract/resource-data.js'
import type { Collection } from '../domain/collection.js'
import type { Scope } from '../domain/records.js'
import type { EpochMs } from '../domain/time.js'

/** One request to a resource, validated. */
export interface ActionRequest {
  readonly resource: ResourceData
  readonly action: ResourceAction
  readonly path: Values
  /** With defaults filled in. */
  readonly query: Values
  readonly body: Values
  readonly now: EpochMs
  readonly newestFirst: boolean
  /** The address of the request without its query. */
  address(): string
  /** The raw query, without its `?`. */
  readonly search: string
}

/** All records of a space, and its chance. */
export interface RecordSpace {
  records(resource: string): Collection | undefined
  /** Whether a parent may be in the real service. Undefined without one. */
  readonly hasParent?: ((resource: string, scope: Scope, id: string) => boolean) | undefined
  /** Resources whose records belong to those of another one. */
  children(resource: string): readonly ResourceData[]
  /** The UUID of the next record of a resource. */
  newUuid(resource: string): string
}

/** The records of a page of a list, and the JSON around them. */
export interface RecordPage {
  readonly values: readonly Values[]
  readonly before: string
  readonly after: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}
