import { shellWord } from '../../advice/curl.js'
import { evidenceText, RULE_VERDICTS } from '../../conduct/verdict-words.js'
import { counted } from '../../domain/numbers.js'
import { addressOf } from '../../domain/space-address.js'
import { type DurationMs, SECOND_MS } from '../../domain/time.js'
import { systemClock } from '../../system/system-clock.js'
import { type Cause, causesText, headLine, type Mark } from '../conduct/verdict-text.js'
import { type JUnitCase, junitXml } from '../junit.js'
import { type Colours, escapeControls } from '../print.js'
import type { ScenarioRun } from './run-scenario.js'
import type { ConformScenario } from './scenarios.js'
import type { SeenExchange } from './verdict.js'

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

function scenarioLines(run: CountedRun): readonly string[] {
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
  return [
    id,
    at.slice(11, 23),
    `${exchange.method} ${addressOf(exchange)}`,
    status ?? 'no response',
    fault ?? reason ?? '',
    end,
  ]
    .filter((part) => part !== '')
    .join(' ')
}

const COUNT_MARKS: Readonly<Record<CountedRun['counts'], Mark>> = {
  passed: 'passed',
  failed: 'failed',
  untested: 'untested',
  known: 'noted',
  stale: 'failed',
  skipped: 'noted',
  'not applicable': 'noted',
}

/** The verdict by cause; for a single scenario, with its requests and output before it. */
export function verdictText(
  runs: readonly CountedRun[],
  /** Since the start; scenarios run at the same time. */
  elapsedMs: DurationMs,
  command: readonly string[],
  colours: Colours,
  columns?: number,
): string {
  const counts = COUNTS.map((word) => [word, runs.filter((run) => run.counts === word).length] as const)
  const [again] = nextCommands(runs.filter(({ counts }) => counts === 'failed').slice(0, 1), command)
  return [
    ...(runs.length === 1 ? runs.flatMap(scenarioLines).map(escapeControls) : []),
    headLine(
      counts.filter(([, count]) => count > 0).map(([word, count]) => [COUNT_MARKS[word], `${count} ${word}`]),
      `${counted(runs.length, 'scenario')}, ${(elapsedMs / SECOND_MS).toFixed(1)} s`,
      colours,
      columns,
    ),
    ...causesText(causesOf(runs), colours, columns),
    ...(again === undefined || runs.length === 1 ? [] : [`Run one again:  ${again}`]),
    '',
  ].join('\n')
}

/** Equal causes together. */
function causesOf(runs: readonly CountedRun[]): readonly Cause[] {
  const groups = new Map<string, CountedRun[]>()
  for (const run of runs) {
    if (run.counts === 'passed') continue
    const name = `${run.counts}\n${run.outcome === 'failed' ? (run.findings[0]?.rule ?? run.reason) : run.reason}`
    groups.set(name, [...(groups.get(name) ?? []), run])
  }
  return [...groups.values()].map((same) => {
    const names = same.map(({ name }) => name).join(', ')
    const [{ counts, findings, reason } = { counts: 'failed', findings: [], reason: '' } as const] = same
    const [finding] = findings
    const title = counts === 'stale' ? 'It passes now: remove it from the baseline.' : reason
    return {
      mark: COUNT_MARKS[counts],
      aside: same.length === 1 ? names : counted(same.length, 'scenario'),
      ...(finding === undefined || counts === 'stale'
        ? { title, lines: same.length === 1 ? [] : [names] }
        : {
            title: `Your client ${RULE_VERDICTS[finding.rule]} (${finding.rule})`,
            lines: [
              ...(reason.startsWith(finding.rule) ? [] : [reason.replace(/(?<=\.) .*/, '')]),
              evidenceText(finding),
              ...(same.length === 1 ? [] : [names]),
            ],
          }),
    }
  })
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
  const words = ['npx petstore-sandbox conform', ...failed, ...command.map(shellWord)]
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
