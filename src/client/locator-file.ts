import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { processStart } from '../system/process-start.js'
import { makeFolder, readRegularFile, replaceFile } from '../system/regular-file.js'

/** Where `serve` and `exec` record their addresses, below the folder that they were started in. */
export const LOCATOR = '.petstore-sandbox/run.json'

export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  /** ISO 8601, UTC. GET /health reports it, with the pid. */
  readonly startedAt: string
}

/** A process of a container may have the pid of an earlier one. */
interface Entry extends Location {
  readonly processStart?: string | undefined
}

/** The newest sandbox of a folder, and those that started before it. */
interface LocatorFile extends Entry {
  readonly older?: readonly Entry[]
}

/**
 * Synchronous, so that a draft is hardly ever left behind.
 *
 * @returns a function that withdraws the locator: the newest of the other sandboxes takes its place
 */
export function writeLocator(cwd: string, location: Location): () => void {
  const file = join(cwd, LOCATOR)
  const made = makeFolder(dirname(file))
  write(file, [{ ...location, processStart: processStart(location.pid)?.started }, ...runningIn(file)])
  return () => {
    try {
      const isOwn = ({ pid, startedAt }: Location) => pid === location.pid && startedAt === location.startedAt
      write(
        file,
        runningIn(file).filter((entry) => !isOwn(entry)),
      )
      if (made !== undefined && readdirSync(made).every((name) => name === '.gitignore'))
        rmSync(made, { recursive: true })
    } catch {
      // A locator that stays names a process that has ended.
    }
  }
}

function write(file: string, [newest, ...older]: readonly Entry[]): void {
  if (newest === undefined) rmSync(file, { force: true })
  else replaceFile(file, `${JSON.stringify(older.length === 0 ? newest : { ...newest, older })}\n`)
}

/** Newest first. */
function runningIn(file: string): readonly Entry[] {
  try {
    return locationsIn(JSON.parse(readRegularFile(file).toString())).filter(isRunning)
  } catch {
    return []
  }
}

/** @param content of a locator, which may be anything */
export function locationsIn(content: unknown): readonly Entry[] {
  const { older = [], ...newest }: LocatorFile = Object(content)
  return [newest, ...[older].flat().map(Object)]
}

export function isRunning({ pid, processStart: started }: Entry): boolean {
  const isKnown = Number.isSafeInteger(pid) && pid > 0 && isProcessAlive(pid)
  return isKnown && (started === undefined || started === processStart(pid)?.started)
}

export function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
