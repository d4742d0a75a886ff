import type { ChalkInstance } from 'chalk'
import type { Check, CheckOutcome, Verification } from '../../client/verify/check.js'
import { escapeControls } from '../escape-controls.js'
import { counts, type Subject } from './json-report.js'

const MARKS: Readonly<Record<CheckOutcome, string>> = { kept: '✓', drift: '✗', skipped: '–', unanswered: '✗' }

/** One line per check, and a summary. */
export function textReport({ contract }: Subject, verification: Verification, chalk: ChalkInstance): string {
  const colours = { kept: chalk.green, drift: chalk.red, skipped: chalk.dim, unanswered: chalk.red }
  const lines = verification.checks.map((check) => `${colours[check.outcome](MARKS[check.outcome])} ${lineOf(check)}`)
  const { kept, drift, skipped, unanswered } = counts(verification)
  const parts = [
    `${kept} kept`,
    `${drift} drifted`,
    `${skipped} not checked`,
    ...(unanswered === 0 ? [] : [`${unanswered} not answered`]),
  ]
  return [...lines, '', `${escapeControls(`${contract.title} ${contract.version}`)}: ${parts.join(', ')}`, ''].join(
    '\n',
  )
}

function lineOf({ operation, name, request, details }: Check): string {
  const asked = request === undefined ? '' : ` (${request})`
  const told = details.length === 0 ? '' : `: ${details.join('; ')}`
  return escapeControls(`${operation}, ${name}${asked}${told}`)
}
