import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageDirectory } from '../../src/system/package-files.js'
// Its processes are ended first, or they would write into what is removed here.
import './child.js'

export const benchDirectory = join(packageDirectory, 'test/bench')
/** The built command, as users run it. */
export const command = join(packageDirectory, 'bin/petstore-sandbox.js')
export const contract = join(packageDirectory, 'openapi.yaml')

const scratch = mkdtempSync(join(tmpdir(), 'petstore-sandbox-bench-'))
let folders = 0

/** An empty folder of this run, gone when it ends. */
export function newFolder(): string {
  const folder = join(scratch, String(++folders))
  mkdirSync(folder)
  return folder
}

process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))
