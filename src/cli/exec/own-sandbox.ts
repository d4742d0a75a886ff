import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import type { ResolvedOptions } from '../../options/options.js'
import { runSandbox } from '../../sandbox.js'
import { type ConductReport, NO_CONDUCT, withConduct } from '../conduct/conduct-report.js'
import type { ReadyFacts } from '../ready-line.js'
import type { ServeLog } from '../serve-log.js'
import { type Summary, Tally } from './tally.js'

/** A sandbox for one command. */
export interface OwnSandbox {
  readonly facts: Omit<ReadyFacts, 'pid'>
  /** The traffic so far. */
  summary(): Summary
  /** The conduct of its clients so far, including that in removed spaces. */
  conduct(): ConductReport
  /** Stops it, or waits for a stop in progress. */
  stop(): Promise<void>
}

/**
 * Starts it. Rejects with an error that has a code: PORT_IN_USE, STORE_LOCKED …
 *
 * @param onExchange is told of each exchange that has ended
 */
export async function openOwnSandbox(
  options: ResolvedOptions,
  log: ServeLog,
  onExchange?: (record: ExchangeRecord) => void,
): Promise<OwnSandbox> {
  const tally = new Tally()
  let forgotten = NO_CONDUCT
  // Without what was forgotten last, which may come back.
  let forgottenBefore = NO_CONDUCT
  let stopped: Promise<void> | undefined
  const sandbox = await runSandbox(options, {
    onExchange: (record) => {
      tally.add(record)
      log.exchange?.(record)
      onExchange?.(record)
    },
    // Tests reset and remove their spaces; what clients did there still counts.
    onForget(conduct) {
      forgottenBefore = forgotten
      forgotten = withConduct(forgotten, conduct)
    },
    onRecall() {
      forgotten = forgottenBefore
    },
    ...(log.verb && { onVerb: log.verb }),
    onWarning: log.warning,
    onShutdown: () => {
      log.warning('The sandbox was stopped through its control plane; the command keeps running without it')
      stopped ??= sandbox.stop('clean')
      // `stop` awaits it and sees the failure.
      stopped.catch(() => {})
    },
  })
  const { baseUrl, controlUrl, plan, petCount: pets, operations } = sandbox
  return {
    facts: { baseUrl, controlUrl, plan, pets, seed: options.seed, upstream: options.upstream },
    summary: () => tally.summary(operations),
    conduct: () => ({ ...sandbox.conduct().reduce(withConduct, forgotten), drift: tally.drift() }),
    async stop() {
      // The clients are gone.
      stopped ??= sandbox.stop('now')
      await stopped
    },
  }
}
