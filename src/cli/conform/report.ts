import { shellWord } from '../../domain/curl.js'
import { counted } from '../../domain/numbers.js'
import { systemClock } from '../../system/system-clock.js'
import { type JUnitCase, junitXml } from '../junit.js'
import type { ScenarioRun } from './run-scenario.js'
import type { ConformScenario } from './scenarios.js'
import { requestLine, type SeenExchange } from './verdict.js'

const MAX_EXCHANGES = 12
const MAX_OUTPUT_LINES = 5
const MAX_LINE_CHARACTERS = 200

const COUNTS = ['passed', 'failed', 'untested', 'known', 'stale', 'skipped', 'not applicable'] as const

/** How a run counts: `known` and `stale` come from the baseline, `skipped` is an untested one that is allowed. */
export interface CountedRun extends ScenarioRun {
  readonly counts: (typeof COUNTS)[number]
}

export function isFailure({ counts }: CountedRun): boolean {
  return counts === 'failed' || counts === 'untested' || counts === 'stale'
}

export function countRun(run: ScenarioRun, baseline: ReadonlySet<string>, allowsUntested: boolean): CountedRun {
  const { name, outcome } = run
  const isKnown = baseline.has(name)
  if (outcome === 'not-applicable') return { ...run, counts: 'not applicable' }
  if (outcome === 'passed') return { ...run, counts: isKnown ? 'stale' : 'passed' }
  if (isKnown) return { ...run, counts: 'known' }
  return { ...run, counts: outcome === 'untested' && allowsUntested ? 'skipped' : outcome }
}

/** A scenario for operations that the contract does not have. */
export function notApplicable({ name }: ConformScenario, reason: string): ScenarioRun {
  return { name, reason, outcome: 'not-applicable', findings: [], exchanges: [], output: '', seconds: 0 }
}

export function scenarioLines(run: CountedRun): readonly string[] {
  const { name, outcome, counts, reason, exchanges, seconds, output } = run
  if (counts === 'not applicable') return [`n/a      ${name.padEnd(22)} ${reason}`]
  const word = counts === 'known' || counts === 'stale' ? counts : outcome
  const line = `${word.padEnd(8)} ${name.padEnd(22)} ${counted(exchanges.length, 'request')}, ${seconds.toFixed(1)} s`
  if (counts === 'passed') return [line]
  if (counts === 'stale') return [line, '         It passes now: remove it from the baseline.']
  if (!isFailure(run)) return [line, `         ${reason}`]
  const rest = exchanges.length - MAX_EXCHANGES
  return [
    line,
    `         ${reason}`,
    ...exchanges.slice(0, MAX_EXCHANGES).map((exchange) => `           ${exchangeLine(exchange)}`),
    ...(rest > 0 ? [`           … and ${counted(rest, 'more request')}`] : []),
    ...endOf(output).map((text) => `         | ${text.slice(0, MAX_LINE_CHARACTERS)}`),
  ]
}

/** The last lines without their details: a stack trace is indented, and may be longer than the error before it. */
function endOf(output: string): readonly string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const outer = lines.filter((line) => /^\S/.test(line))
  return (outer.length > 0 ? outer : lines).slice(-MAX_OUTPUT_LINES)
}

/** `3 17:01:01.143 GET /v1/pets?limit=2 429 fault` */
function exchangeLine(exchange: SeenExchange): string {
  const { id, at, status, reason, fault, ended } = exchange
  const end = ended === 'left' ? 'client left' : ''
  return [id, at.slice(11, 23), requestLine(exchange), status ?? 'no response', fault ?? reason ?? '', end]
    .filter((part) => part !== '')
    .join(' ')
}

export function summaryLine(runs: readonly CountedRun[]): string {
  const parts = COUNTS.flatMap((word) => {
    const count = runs.filter(({ counts }) => counts === word).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  return `petstore-sandbox: ${counted(runs.length, 'scenario')}: ${parts.join(', ')}`
}

export function jsonReport(runs: readonly CountedRun[]): object {
  const scenarios = runs.map(({ name, outcome, reason, findings, exchanges, counts }) => ({
    name,
    outcome,
    reason,
    ...(counts === 'known' || counts === 'stale' ? { baseline: counts } : {}),
    findings,
    exchanges,
  }))
  return { format: 1, scenarios }
}

/** Only the failed scenarios again. */
export function nextCommands(runs: readonly CountedRun[], command: readonly string[]): readonly string[] {
  const failed = runs
    .filter(({ counts }) => counts === 'failed' || counts === 'untested')
    .map(({ name }) => `--scenario ${shellWord(name)}`)
  const words = ['npx petstore-sandbox conform', ...failed, '--', ...command.map(shellWord)]
  return failed.length === 0 ? [] : [words.join(' ')]
}

export function junitReport(runs: readonly CountedRun[]): string {
  const cases = runs.map((run): JUnitCase => {
    const { name, counts, reason, seconds } = run
    const outcome = isFailure(run) ? 'failure' : counts === 'passed' ? 'passed' : 'skipped'
    const message = counts === 'stale' ? 'It passes now: remove it from the baseline.' : reason
    return { name, outcome, seconds, message, lines: isFailure(run) ? scenarioLines(run) : [] }
  })
  return junitXml('petstore-sandbox conform', [{ name: 'conform', cases }], systemClock.wall())
}
