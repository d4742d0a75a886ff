import { conductReport } from '../../conduct/conduct-report.js'
import type { Conduct } from '../../conduct/conduct-view.js'
import type { Contract } from '../../contract/contract.js'
import type { Reason } from '../../domain/problems.js'
import { driftKind } from '../../drift/ledger.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import type { ResolvedOptions } from '../../options/resolve.js'
import { runSandbox, type SandboxEvents } from '../../sandbox.js'
import { addConduct, type ConductReport, type DriftCount, EMPTY_CONDUCT } from '../conduct/conduct-report.js'
import type { ReadyFacts, ServeLog } from '../serve-log.js'

/** Discarded conduct that an undo may bring back. */
const MAX_RESTORABLE = 1000
const MAX_DRIFTS = 500

export interface Summary {
  readonly requests: number
  readonly reached: readonly string[]
  readonly missed: readonly string[]
  readonly refused: ReadonlyMap<Reason | 'other', number>
}

export interface ExecSandbox {
  readonly facts: Omit<ReadyFacts, 'pid'>
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
): Promise<ExecSandbox> {
  let requests = 0
  const reached = new Set<string>()
  const refused = new Map<Reason | 'other', number>()
  const drifts = new Map<string, DriftCount>()
  let discarded = EMPTY_CONDUCT
  /** The last of each space may come back by an undo. */
  const restorable: Conduct[] = []
  let stopped: Promise<void> | undefined

  // Counted as they happen, because the log is limited.
  function count({ operation = '', status, reason, drift = [] }: ExchangeRecord): void {
    requests++
    reached.add(operation)
    if (status === 429 || reason === 'ban') refused.set(reason ?? 'other', (refused.get(reason ?? 'other') ?? 0) + 1)
    for (const detail of drift) {
      const key = `${operation} ${driftKind(detail)}`
      const known = drifts.get(key)
      if (known !== undefined) drifts.set(key, { ...known, count: known.count + 1 })
      else if (drifts.size < MAX_DRIFTS) drifts.set(key, { operation, detail, count: 1 })
    }
  }

  const events: SandboxEvents = {
    onExchange: (record) => {
      count(record)
      log.exchange?.(record)
      onExchange(record)
    },
    // Tests reset and remove their spaces; the conduct there still counts.
    onForget(space) {
      restorable.push(conductReport(space))
      const oldest = restorable.length > MAX_RESTORABLE ? restorable.shift() : undefined
      if (oldest !== undefined) discarded = addConduct(discarded, oldest)
    },
    onRecall(space) {
      const last = restorable.findLastIndex((conduct) => conduct.space === space)
      if (last !== -1) restorable.splice(last, 1)
    },
    ...(log.verb && { onVerb: log.verb }),
    onWarning: log.warning,
    onShutdown: () => {
      log.warning('The sandbox was stopped through its control plane; the command keeps running without it')
      stopped ??= sandbox.stop('clean')
      // `stop` reports the failure.
      stopped.catch(() => {})
    },
  }
  const sandbox = await runSandbox(options, events, contract)
  const { baseUrl, controlUrl, plan, petCount: pets, operations } = sandbox
  const ids = operations.map(({ id }) => id)
  return {
    facts: { baseUrl, controlUrl, plan, pets, seed: options.seed, upstream: options.upstream, operations },
    summary: () => ({
      requests,
      reached: ids.filter((operation) => reached.has(operation)),
      missed: ids.filter((operation) => !reached.has(operation)),
      refused,
    }),
    conduct: () => ({
      ...[...restorable, ...sandbox.conduct()].reduce(addConduct, discarded),
      drift: [...drifts.values()],
    }),
    async stop() {
      // The clients are gone.
      stopped ??= sandbox.stop('now')
      await stopped
    },
  }
}
