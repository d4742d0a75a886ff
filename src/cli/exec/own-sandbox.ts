import type { ResolvedOptions } from '../../options/options.js'
import type { ReadyFacts } from '../ready-line.js'
import type { ServeLog } from '../serve-log.js'
import { type Summary, Tally } from './tally.js'

/** A sandbox for one command. */
export interface OwnSandbox {
  readonly facts: Omit<ReadyFacts, 'pid'>
  /** What has come to it so far. */
  summary(): Summary
  /** Stops it, or waits for it where it is stopping already. */
  stop(): Promise<void>
}

/** Starts it. Rejects with an error that has a code: PORT_IN_USE, STORE_LOCKED … */
export async function openOwnSandbox(options: ResolvedOptions, log: ServeLog): Promise<OwnSandbox> {
  const { runSandbox } = await import('../../sandbox.js')
  const tally = new Tally()
  let stopped: Promise<void> | undefined
  const sandbox = await runSandbox(options, {
    onExchange: (record) => {
      tally.add(record)
      log.exchange?.(record)
    },
    onWarning: log.warning,
    onShutdown: () => {
      log.warning('The sandbox was stopped over its control plane; the command runs on without it')
      stopped ??= sandbox.stop('clean')
      // Whoever waits for it in the end hears of it.
      stopped.catch(() => {})
    },
  })
  const { baseUrl, controlUrl, plan, petCount: pets, assembly } = sandbox
  return {
    facts: { baseUrl, controlUrl, plan, pets, seed: options.seed },
    summary: () => tally.summary(assembly.spaces.default.surroundings.contract.operations.map(({ id }) => id)),
    async stop() {
      // Whoever had a request open is gone.
      stopped ??= sandbox.stop('now')
      await stopped
    },
  }
}
