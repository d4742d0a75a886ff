/** Where `serve` records its address, below the folder that it was started in. */
export const LOCATOR = '.petstore-sandbox/run.json'

export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  /** ISO 8601, UTC. GET /health reports it, with the pid. */
  readonly startedAt: string
}
