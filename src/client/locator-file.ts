/** Where `serve` leaves word of itself, below the folder that it was started in. */
export const LOCATOR = '.petstore-sandbox/run.json'

/** Where a sandbox runs, and which one it is. */
export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  /** ISO 8601, UTC; with the process's number it is told by GET /health, too. */
  readonly startedAt: string
}
