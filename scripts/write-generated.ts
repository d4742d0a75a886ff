import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageDirectory } from '../src/system/package-files.js'

/** Writes a module to a part's `generated/`. Leaves an unchanged file alone: a running program or test may be reading it. */
export async function writeGenerated(
  part: 'api' | 'contract' | 'control' | 'fixtures' | 'options' | 'system',
  name: string,
  text: string,
): Promise<void> {
  const folder = join(packageDirectory, 'src', part, 'generated')
  const file = join(folder, name)
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return
  await mkdir(folder, { recursive: true })
  await writeFile(file, text)
}
