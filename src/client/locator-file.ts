/** Where `serve` records its address, below the folder that it was started in. */
export const LOCATOR = '.petstore-sandbox/run.json'

/** Where a sandbox runs, and which one it is. */
export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  /** ISO 8601, UTC. GET /health reports it and the pid, too. */
  readonly startedAt: string
}
