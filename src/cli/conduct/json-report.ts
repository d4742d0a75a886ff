import { escapeControls } from '../escape-controls.js'
import type { ConductReport } from './conduct-report.js'

/** Further facts about a run, for programs. */
export type RunFacts = Readonly<Record<string, unknown>>

export function jsonReport(report: ConductReport, facts: RunFacts = {}): string {
  const lines = JSON.stringify({ ...facts, ...report }, undefined, 2).split('\n')
  return `${lines.map(escapeControls).join('\n')}\n`
}
