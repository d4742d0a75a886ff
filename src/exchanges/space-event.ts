/** Something that was done to a space between its exchanges. */
export interface SpaceEvent {
  /** By the space's clock, after it: ISO 8601, UTC. */
  readonly at: string
  /** Name of the verb. */
  readonly verb: string
  /** What was done, in about the words of `petstore-sandbox control`. */
  readonly text: string
}
