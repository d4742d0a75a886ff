import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder, readRegularFile, replaceFile } from '../system/regular-file.js'

/** Where `serve` records its address, below the folder that it was started in. */
export const LOCATOR = '.petstore-sandbox/run.json'

export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  /** ISO 8601, UTC. GET /health reports it, with the pid. */
  readonly startedAt: string
}

/**
 * Synchronous, so that a draft is hardly ever left behind.
 *
 * @returns a function that withdraws the locator, unless another sandbox has replaced it. It restores the one that this
 *   one had replaced, if that sandbox still runs.
 */
export function writeLocator(cwd: string, location: Location): () => void {
  const file = join(cwd, LOCATOR)
  const text = `${JSON.stringify(location)}\n`
  makeFolder(dirname(file))
  const replaced = textOf(file)
  replaceFile(file, text)
  return () => {
    try {
      if (textOf(file) !== text) return
      const { pid } = JSON.parse(replaced)
      if (pid !== location.pid && isOwnProcess(pid)) replaceFile(file, replaced)
      else rmSync(file)
    } catch {
      rmSync(file, { force: true })
    }
  }
}

function textOf(file: string): string {
  try {
    return readRegularFile(file).toString()
  } catch {
    return '{}'
  }
}

export function isOwnProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
