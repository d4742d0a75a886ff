/** A change of a space by a verb, or the ban of a client. */
export interface SpaceEvent {
  /** By the space's clock, after it: ISO 8601, UTC. */
  readonly at: string
  readonly verb: string
  /** Its effect, in the words of `petstore-sandbox control`. */
  readonly text: string
  /** When it expires: ISO 8601, UTC; absent if it does not. */
  readonly until?: string
}

export interface LoggedEvent extends SpaceEvent {
  readonly afterId: number
}
