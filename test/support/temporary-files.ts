import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder, removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-sandbox-'))
  // A shell or browser that was just ended may still write its history there, so removal is tried again.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** A file in a new folder, removed after the test. @returns its path */
export function temporaryFile(name: string, text: string): string {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, text)
  return file
}
