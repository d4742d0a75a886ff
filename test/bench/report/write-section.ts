import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'

const DOCUMENT = 'docs/benchmarks.md'

/** Puts a report into the document, in place of the last one. @param bench the script that made it */
export function writeSection(bench: 'bench' | 'bench:replicas', report: string): void {
  const file = join(packageDirectory, DOCUMENT)
  const text = readFileSync(file, 'utf8')
  const marks = { begin: `<!-- ${bench}: begin -->`, end: `<!-- ${bench}: end -->` }
  const [begin, end] = [text.indexOf(marks.begin), text.indexOf(marks.end)]
  if (begin === -1 || end < begin)
    throw new Error(`${DOCUMENT} has no place between "${marks.begin}" and "${marks.end}".`)
  writeFileSync(file, `${text.slice(0, begin + marks.begin.length)}\n${report}\n${text.slice(end)}`)
}
