import { dirname, extname } from 'node:path'
import { Failure } from '../../domain/failures.js'
import { makeFolder, PROJECT_FOLDER } from '../../system/make-folder.js'
import { PROJECT_FILE, writeRegularFile } from '../../system/regular-file.js'
import { systemClock } from '../../system/system-clock.js'
import { chalkFor } from '../colour.js'
import type { ConductReport } from '../conduct/conduct-report.js'
import { junitReport } from '../conduct/junit-report.js'
import { textReport } from '../conduct/text-report.js'
import { escapeLines } from '../escape-controls.js'
import type { RunRule } from './fail-on.js'

/** The file's extension chooses the format: .json, .xml (JUnit), otherwise text. @throws Failure CANNOT_WRITE */
export async function writeReport(
  file: string,
  report: ConductReport,
  facts: object,
  failOn: readonly RunRule[],
): Promise<void> {
  const extension = extname(file).toLowerCase()
  const text =
    extension === '.json'
      ? jsonReport(report, facts)
      : extension === '.xml'
        ? junitReport(report, failOn, systemClock.wall())
        : textReport(report, await chalkFor(0))
  try {
    makeFolder(dirname(file), PROJECT_FOLDER)
    writeRegularFile(file, text, PROJECT_FILE)
  } catch (cause) {
    const { message } = cause as NodeJS.ErrnoException
    throw new Failure('CANNOT_WRITE', `The report "${file}" could not be written (${message}).`, { cause })
  }
}

export function jsonReport(report: ConductReport, facts: object = {}): string {
  return `${escapeLines(JSON.stringify({ ...facts, ...report }, undefined, 2))}\n`
}
