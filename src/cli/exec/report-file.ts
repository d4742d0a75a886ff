import { dirname, extname } from 'node:path'
import { Failure } from '../../domain/failures.js'
import { makeFolder } from '../../system/make-folder.js'
import { writeRegularFile } from '../../system/regular-file.js'
import { systemClock } from '../../system/system-clock.js'
import { chalkFor } from '../colour.js'
import type { ConductReport } from '../conduct/conduct-report.js'
import { jsonReport, type RunFacts } from '../conduct/json-report.js'
import { junitReport } from '../conduct/junit-report.js'
import { textReport } from '../conduct/text-report.js'
import type { RunRule } from './fail-on.js'

/**
 * Writes a report, in the form that the file's name asks for: .json, .xml (JUnit), else text.
 * Folders that it needs are made; an older report is replaced.
 *
 * @param failOn rules whose findings are failures
 * @throws Failure CANNOT_WRITE
 */
export async function writeReport(
  file: string,
  report: ConductReport,
  facts: RunFacts,
  failOn: readonly RunRule[],
): Promise<void> {
  const text = await reportText(extname(file).toLowerCase(), report, facts, failOn)
  try {
    makeFolder(dirname(file))
    writeRegularFile(file, text)
  } catch (cause) {
    const { message } = cause as NodeJS.ErrnoException
    throw new Failure('CANNOT_WRITE', `The report "${file}" could not be written (${message}).`, { cause })
  }
}

async function reportText(
  extension: string,
  report: ConductReport,
  facts: RunFacts,
  failOn: readonly RunRule[],
): Promise<string> {
  switch (extension) {
    case '.json':
      return jsonReport(report, facts)
    case '.xml':
      return junitReport(report, failOn, systemClock.wall())
    default:
      return textReport(report, await chalkFor(0))
  }
}
