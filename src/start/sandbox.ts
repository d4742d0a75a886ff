import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import type { Contract } from '../contract/contract.js'
import { CONTROL_PATH, isControl } from '../control/path.js'
import { countRecords } from '../core/collections.js'
import { listen } from '../http/listener.js'
import type { BodyBudget } from '../http/request-body.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { formatLimits } from '../options/values/keys.js'
import { openInSteps } from '../system/cleanup-stack.js'
import { messageOf } from '../system/message-of.js'
import { openSandboxCore, type SandboxCore, type SandboxEvents, type SavedSandbox } from './compose.js'

export { checkStart, type SandboxEvents, type SavedSandbox } from './compose.js'

export interface RunningSandbox {
  readonly core: SandboxCore
  readonly baseUrl: string
  readonly controlUrl: string
  /** Of the key `sandbox`; undefined if the contract has no plans. */
  readonly plan: string | undefined
  /** `3/min` if limits were given, in place of the plan's. */
  readonly limits: string | undefined
  /** How many records each resource has. */
  readonly records: Readonly<Record<string, number>>
  readonly seed: number
  readonly operations: Contract['operations']
  /** Resolves when the port is free and all changes are written. `clean` lets open responses finish, `now` cuts them. */
  stop(how?: 'clean' | 'now'): Promise<void>
}

/**
 * Starts a sandbox and opens its port. A failed start leaves nothing open.
 * @param saved state to continue from
 * @throws an error with a code: PORT_IN_USE, STORE_LOCKED …
 */
export function runSandbox(
  options: ResolvedOptions,
  events: SandboxEvents = {},
  contract?: Contract,
  saved?: SavedSandbox,
): Promise<RunningSandbox> {
  return openInSteps(async (opened) => {
    const core = await openSandboxCore(options, events, contract, undefined, saved)
    opened.defer(core.close)
    const warn = (message: string) => events.onWarning?.(message)
    const listener = await listen(options.host, options.port, {
      ...core,
      isControl,
      control: (request, response, budget) => void answerControl(core, request, response, budget, warn),
      warn,
    })
    let stopMode: 'clean' | 'now' = 'now'
    opened.defer(() => listener.stop(stopMode))
    opened.defer(core.end)
    const isAnyAddress = options.host === '0.0.0.0' || options.host === '::'
    const host = options.host.includes(':') ? `[${options.host}]` : options.host
    await core.begin(`${isAnyAddress ? hostname() : host}:${listener.port}`)
    const origin = `http://${isAnyAddress ? '127.0.0.1' : host}:${listener.port}`
    const { spaces } = core
    const { seed, basePath, contract: served, start } = spaces.default.shared
    return {
      core,
      baseUrl: origin + basePath,
      controlUrl: origin + CONTROL_PATH,
      plan: start.settings.plan,
      limits: start.settings.limits && formatLimits(start.settings.limits),
      records: countRecords(served, spaces.default.state.records),
      seed,
      operations: served.operations,
      stop(how = 'clean') {
        stopMode = how
        return opened.close()
      },
    }
  })
}

async function answerControl(
  { control }: SandboxCore,
  request: IncomingMessage,
  response: ServerResponse,
  budget: BodyBudget,
  warn: (message: string) => void,
): Promise<void> {
  try {
    const { bridge } = await import('../http/control-bridge.js')
    await bridge(control, request, response, budget)
  } catch (error) {
    if (!request.socket.destroyed) warn(`The control plane failed: ${messageOf(error)}`)
    request.socket.destroy()
  }
}
