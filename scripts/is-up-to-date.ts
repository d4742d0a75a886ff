import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Inputs of the build. Folders count: a file may have been removed. */
const SOURCES = ['src', 'scripts', 'fixtures', 'openapi.yaml', 'package.json', 'package-lock.json']
const GENERATED = join('src', 'contract', 'generated')

/** @param last the file that a build writes last, so that an interrupted build does not count */
export async function isUpToDate(directory: string, last: string): Promise<boolean> {
  const built = await changedAt(last)
  const sources = await Promise.all(SOURCES.map((name) => withContent(directory, name)))
  const changes = await Promise.all(sources.flat().map((path) => changedAt(path)))
  return changes.every((changed) => changed < built)
}

async function withContent(directory: string, name: string): Promise<readonly string[]> {
  const path = join(directory, name)
  if (!(await stat(path)).isDirectory()) return [path]
  const generated = join(directory, GENERATED)
  const inside = await readdir(path, { recursive: true })
  return [path, ...inside.map((entry) => join(path, entry)).filter((entry) => !entry.startsWith(generated))]
}

/** Milliseconds since the Unix epoch, 0 for a missing file. */
async function changedAt(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.mtimeMs ?? 0
}
