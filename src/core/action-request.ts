import type { Values } from '../contract/contract.js'
import type { ResourceAction, ResourceData } from '../contract/resource-data.js'
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
  /** The address of the request without its query; empty if no header or property of the response needs it. */
  readonly address: string
  /** The address of the service; empty as `address` is. */
  readonly root: string
  /** The raw query, without its `?`. */
  readonly search: string
  /** Whether If-Match and If-None-Match allow the operation on this record; undefined for one that is not there. */
  readonly precondition?: ((known: Values | undefined) => boolean) | undefined
}

/** The records of a page of a list, and the JSON around them. */
export interface RecordPage {
  readonly values: readonly Values[]
  readonly before: string
  readonly after: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}
