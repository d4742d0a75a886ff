import type { ConductReport } from '../../conduct/total-conduct.js'
import type { Contract } from '../../contract/contract.js'
import { conductOfRun } from '../../control/conduct-of-run.js'
import { counted } from '../../domain/numbers.js'
import type { Reason } from '../../domain/problems.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import type { LogFormat } from '../../options/options.js'
import type { ResolvedOptions } from '../../options/resolve.js'
import { runSandbox, type SandboxEvents } from '../../start/sandbox.js'
import { callerName, type FailOn, NO_TRAFFIC, noTrafficLine, type RunRule } from '../conduct/conduct-report.js'
import { cheapestPlanLine, countsLine } from '../conduct/text-report.js'
import { causesText, findingCauses } from '../conduct/verdict-text.js'
import { type Colours, escapeControls, wrapHanging } from '../print.js'
import type { ReadyFacts, ServeLog } from '../serve-log.js'

export interface Summary {
  readonly requests: number
  readonly reached: readonly string[]
  readonly missed: readonly string[]
  readonly refused: ReadonlyMap<Reason | 'other', number>
}

export interface ExecSandbox {
  readonly facts: Omit<ReadyFacts, 'pid'>
  /** ISO 8601, UTC. */
  readonly startedAt: string
  summary(): Summary
  conduct(): ConductReport
  stop(): Promise<void>
}

/** @throws errors with a code: PORT_IN_USE, STORE_LOCKED … */
export async function openExecSandbox(
  options: ResolvedOptions,
  contract: Contract,
  log: ServeLog,
  onExchange: (record: ExchangeRecord) => void,
  onStopped: () => void,
): Promise<ExecSandbox> {
  let requests = 0
  const reached = new Set<string>()
  const refused = new Map<Reason | 'other', number>()
  let stopped: Promise<void> | undefined

  // Counted as they happen, because the log is limited.
  function count({ operation = '', status, reason }: ExchangeRecord): void {
    requests++
    reached.add(operation)
    if (status === 429 || reason === 'ban') refused.set(reason ?? 'other', (refused.get(reason ?? 'other') ?? 0) + 1)
  }

  const events: SandboxEvents = {
    onExchange: (record) => {
      count(record)
      log.exchange?.(record)
      onExchange(record)
    },
    ...(log.verb && { onVerb: log.verb }),
    onWarning: log.warning,
    onShutdown: () => {
      log.warning('The sandbox was stopped through its control plane, and with it the command')
      onStopped()
      stopped ??= sandbox.stop('clean')
      // `stop` reports the failure.
      stopped.catch(() => {})
    },
  }
  const sandbox = await runSandbox(options, events, contract)
  const { baseUrl, controlUrl, plan, limits, records, operations, core } = sandbox
  const ids = operations.map(({ id }) => id)
  return {
    startedAt: core.identity.startedAt,
    facts: {
      baseUrl,
      controlUrl,
      plan,
      limits,
      records,
      seed: options.seed,
      upstream: options.upstream,
      cors: options.upstream === undefined ? undefined : options.cors,
      operations,
    },
    summary: () => ({
      requests,
      reached: ids.filter((operation) => reached.has(operation)),
      missed: ids.filter((operation) => !reached.has(operation)),
      refused,
    }),
    conduct: () => conductOfRun(core.spaces),
    async stop() {
      // The clients are gone.
      stopped ??= sandbox.stop('now')
      await stopped
    },
  }
}

const MAX_FINDINGS = 20
const MAX_OPERATIONS = 5

export interface RunOutcome {
  readonly summary: Summary
  readonly conduct: ConductReport
  readonly failOn: FailOn
  readonly broken: readonly RunRule[]
  /** It can have hundreds of operations, so those that were not reached are only in reports. */
  readonly isOwnContract: boolean
}

/** @param columns of the terminal */
export function summaryLines(
  { summary, conduct, failOn, broken, isOwnContract }: RunOutcome,
  log: LogFormat,
  colours: Colours,
  columns?: number,
): readonly string[] {
  const { requests, counts, whatIf, leftOut } = conduct
  const all = [...conduct.violations, ...conduct.warnings].filter(({ rule }) => broken.includes(rule))
  const findings = all.slice(0, MAX_FINDINGS)
  if (log === 'json') {
    const facts = {
      event: 'summary',
      ...summaryFacts(summary),
      conduct: { counts, ...(whatIf && { cheapest: whatIf.cheapest }) },
    }
    const failed = { event: 'fail-on', rules: broken, findings }
    return [JSON.stringify(facts), ...(broken.length === 0 ? [] : [escapeControls(JSON.stringify(failed))])]
  }
  const cheapest = cheapestPlanLine(whatIf)
  const rest = all.length - findings.length + leftOut
  return [
    wrapHanging(summaryLine(summary, isOwnContract), columns),
    ...(requests === 0
      ? []
      : [
          wrapHanging(`petstore-sandbox: conduct: ${[countsLine(conduct), cheapest ?? []].flat().join('; ')}`, columns),
        ]),
    ...(broken.length === 0 ? [] : [`petstore-sandbox: ${failOn.where} failed the run:`]),
    ...(broken.includes(NO_TRAFFIC) ? [wrapHanging(`  ${noTrafficLine(conduct)}`, columns)] : []),
    ...causesText(findingCauses(findings, 'failed', callerName), colours, columns),
    ...(broken.length > 0 && rest > 0 ? [`  … and ${rest} more`] : []),
  ]
}

function summaryLine({ requests, reached, missed, refused }: Summary, isOwnContract: boolean): string {
  const rest = missed.length - MAX_OPERATIONS
  const named = [...missed.slice(0, MAX_OPERATIONS), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
  const total = [...refused.values()].reduce((sum, count) => sum + count, 0)
  const reasons = [...refused].map(([reason, count]) => `${reason} ${count}`).join(', ')
  const operations = `${reached.length} of ${reached.length + missed.length} operations reached`
  const parts = [
    counted(requests, 'request'),
    reached.length === 0 || named === '' || isOwnContract ? operations : `${operations} (not ${named})`,
    total === 0 ? 'none refused' : `${total} refused (${reasons})`,
  ]
  return escapeControls(`petstore-sandbox: ${parts.join('; ')}`)
}

export function summaryFacts({ requests, reached, missed, refused }: Summary) {
  return { requests, operations: { reached, missed }, refused: Object.fromEntries(refused) }
}
