import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'

const BEGIN = '<!-- bench: begin -->'
const END = '<!-- bench: end -->'

/** Puts a report into the README, in place of the last one. */
export function writeReadmeSection(report: string): void {
  const file = join(packageDirectory, 'README.md')
  const readme = readFileSync(file, 'utf8')
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error(`README.md has no place between "${BEGIN}" and "${END}".`)
  writeFileSync(file, `${readme.slice(0, begin + BEGIN.length)}\n${report}\n${readme.slice(end)}`)
}
