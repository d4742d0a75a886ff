/** The log that replicas share cannot be reached, or this replica is none of its group now. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}
