import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** The newest sandbox of a folder, and those that started before it. */
interface LocatorFile extends Location {
  readonly older?: readonly Location[]
}

/** Starts of sandboxes in this process: another entry with its pid is of an earlier process, as in a container. */
const own = new Set<string>()

/**
 * Synchronous, so that a draft is hardly ever left behind.
 *
 * @returns a function that withdraws the locator: the newest of the other sandboxes takes its place
 */
export function writeLocator(cwd: string, location: Location): () => void {
  const file = join(cwd, LOCATOR)
  const made = makeFolder(dirname(file))
  write(file, [location, ...runningIn(file).filter(({ pid, startedAt }) => pid !== process.pid || own.has(startedAt))])
  own.add(location.startedAt)
  return () => {
    try {
      const isOwn = ({ pid, startedAt }: Location) => pid === location.pid && startedAt === location.startedAt
      write(
        file,
        runningIn(file).filter((one) => !isOwn(one)),
      )
      if (made !== undefined && readdirSync(made).every((name) => name === '.gitignore'))
        rmSync(made, { recursive: true })
    } catch {
      // What is left names a process that has ended.
    }
  }
}

function write(file: string, [newest, ...older]: readonly Location[]): void {
  if (newest === undefined) rmSync(file, { force: true })
  else replaceFile(file, `${JSON.stringify(older.length === 0 ? newest : { ...newest, older })}\n`)
}

/** Newest first. */
function runningIn(file: string): readonly Location[] {
  try {
    return locationsIn(JSON.parse(readRegularFile(file).toString())).filter(({ pid }) => isOwnProcess(pid))
  } catch {
    return []
  }
}

/** @param content of a locator, which may be anything */
export function locationsIn(content: unknown): readonly Location[] {
  const { older = [], ...newest }: LocatorFile = Object(content)
  return [newest, ...[older].flat().map(Object)]
}

export function isOwnProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
