import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'

const DOCUMENT = 'docs/benchmarks.md'
const BEGIN = '<!-- bench: begin -->'
const END = '<!-- bench: end -->'

/** Puts a report into the document, in place of the last one. */
export function writeSection(report: string): void {
  const file = join(packageDirectory, DOCUMENT)
  const text = readFileSync(file, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error(`${DOCUMENT} has no place between "${BEGIN}" and "${END}".`)
  writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n${report}\n${text.slice(end)}`)
}
