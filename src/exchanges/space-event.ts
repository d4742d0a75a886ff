/** A change of a space by a verb, or the ban of a client. */
export interface SpaceEvent {
  /** By the space's clock, after it: ISO 8601, UTC. */
  readonly at: string
  readonly verb: string
  /** Its effect, in the words of `petstore-sandbox control`. */
  readonly text: string
  /** When it expires: ISO 8601, UTC; absent if it does not. */
  readonly until?: string
  /** Label of the key that it bans, or whose ban it lifts; absent for other changes. */
  readonly key?: string
  /** Number of early requests that led to the ban; absent unless a client caused it. */
  readonly early?: number
}

export interface LoggedEvent extends SpaceEvent {
  readonly afterId: number
}
