import type { Command } from 'commander'
import type { Drift, DriftFinding } from '../../drift/ledger.js'
import { chalkFor, colourLevel } from '../colour.js'
import { escapeControls } from '../escape-controls.js'
import type { VerbCommands } from './verb-commands.js'

export function addDriftVerb(parent: Command, { verb, call }: VerbCommands): void {
  verb(parent, 'drift', 'how the real service behind the sandbox drifts from the contract', [
    'drift',
    'drift --space checkout -o json',
  ]).action(
    call(async ({ controls, io }) => {
      const value = await controls.drift()
      const chalk = await chalkFor(colourLevel(io.stdout, io.env))
      const findings = value.findings.map((finding) => `${chalk.red('✗')} ${escapeControls(lineOf(finding))}`)
      return { value, text: [...findings, summaryOf(value)].join('\n'), coloured: true }
    }),
  )
}

function lineOf({ operation, detail, count, exchanges }: DriftFinding): string {
  const times = count === 1 ? 'once' : `${count} times`
  return `${operation}: ${detail} (${times}; ${exchanges.length === 1 ? 'exchange' : 'exchanges'} ${exchanges.join(', ')})`
}

function summaryOf({ checked, drifted, unanswered, leftOut }: Drift): string {
  const parts = [
    `${checked} ${checked === 1 ? 'answer' : 'answers'} of the real service, ${drifted} drifted`,
    ...(unanswered === 0 ? [] : [`${unanswered} requests not answered`]),
    ...(leftOut === 0 ? [] : [`${leftOut} further findings not kept`]),
  ]
  return parts.join('; ')
}
