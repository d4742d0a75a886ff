import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { Failure } from '../../domain/failures.js'
import { type ConductRule, VIOLATIONS } from '../../space/conduct-view.js'
import { chalkFor } from '../colour.js'
import type { ConductReport } from '../conduct/conduct-report.js'
import { jsonReport, type RunFacts } from '../conduct/json-report.js'
import { junitReport } from '../conduct/junit-report.js'
import { textReport } from '../conduct/text-report.js'

/**
 * Writes a report, in the form that the file's name asks for: .json, .xml (JUnit), else text.
 * Folders that it needs are made; an older report is replaced.
 *
 * @param failOn rules that are failures beside the violations
 * @throws Failure CANNOT_WRITE
 */
export async function writeReport(
  file: string,
  report: ConductReport,
  facts: RunFacts,
  failOn: readonly ConductRule[],
): Promise<void> {
  const text = await reportText(extname(file).toLowerCase(), report, facts, failOn)
  try {
    await makeFolder(dirname(file))
    await writeFile(file, text)
  } catch (cause) {
    const { message } = cause as NodeJS.ErrnoException
    throw new Failure('CANNOT_WRITE', `The report "${file}" could not be written (${message}).`, { cause })
  }
}

/** As mkdir with `recursive`, which never returns where a system says ENOENT of a folder that it forbids: /proc. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error
    await makeFolder(dirname(folder))
    await mkdir(folder)
  }
}

async function reportText(
  extension: string,
  report: ConductReport,
  facts: RunFacts,
  failOn: readonly ConductRule[],
): Promise<string> {
  switch (extension) {
    case '.json':
      return jsonReport(report, facts)
    case '.xml':
      return junitReport(report, [...VIOLATIONS, ...failOn])
    default:
      return textReport(report, await chalkFor(0))
  }
}
