import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { conductReport } from './conduct/conduct-report.js'
import type { Conduct } from './conduct/conduct-view.js'
import type { Contract } from './contract/contract.js'
import { CONTROL_PATH, isControl } from './control/path.js'
import type { Space } from './core/space.js'
import type { Spaces } from './core/spaces.js'
import type { PlanName } from './domain/keys.js'
import type { BodyRoom } from './http/body-room.js'
import { listen } from './http/listener.js'
import type { ResolvedOptions } from './options/options.js'
import { openSandboxCore, type SandboxCore, type SandboxEvents } from './sandbox-core.js'
import { messageOf } from './system/message-of.js'
import { holdTickShape } from './system/tick-shape.js'

/** A listening sandbox. */
export interface RunningSandbox {
  readonly core: SandboxCore
  readonly baseUrl: string
  readonly controlUrl: string
  readonly plan: PlanName
  readonly petCount: number
  /** What chance was begun with. */
  readonly seed: number
  /** Ids of the operations in the contract being served, in its order. */
  readonly operations: readonly string[]
  /** What is known of the clients' conduct, space by space: the default one first, and those in which there were any. */
  conduct(): readonly Conduct[]
  /** Resolves when the port is free and everything is written; open responses finish first, or are cut. */
  stop(how?: 'clean' | 'now'): Promise<void>
}

/** Puts a sandbox together and opens its port. Rejects with an error that has a code: PORT_IN_USE, STORE_LOCKED … */
export async function runSandbox(
  options: ResolvedOptions,
  events: SandboxEvents = {},
  contract?: Contract,
): Promise<RunningSandbox> {
  holdTickShape()
  const core = await openSandboxCore(options, events, contract)
  const { service, control } = core
  const warn = (message: string) => events.onWarning?.(message)
  try {
    const listener = await listen(options.host, options.port, {
      service,
      settle: core.settle,
      instead: core.instead,
      ended: core.ended,
      refuse: (code, { socket }) => core.refuse(code, socket.remoteAddress ?? 'unknown'),
      isControl,
      control: (request, response, room) => void answerControl(control, request, response, room, warn),
      warn,
    })
    const host = isAnyAddress(options.host) ? hostname() : urlHost(options.host)
    await core.begin(`${host}:${listener.port}`).catch(async (error: unknown) => {
      await listener.stop('now')
      throw error
    })
    const origin = `http://${isAnyAddress(options.host) ? '127.0.0.1' : urlHost(options.host)}:${listener.port}`
    return {
      core,
      baseUrl: origin + options.basePath,
      controlUrl: origin + CONTROL_PATH,
      plan: options.start.settings.plan,
      petCount: core.spaces.default.pets.size,
      seed: core.spaces.default.shared.seed,
      operations: core.spaces.default.shared.contract.operations.map(({ id }) => id),
      conduct: () => usedSpaces(core.spaces).map(conductReport),
      async stop(how = 'clean') {
        core.end()
        await listener.stop(how)
        await core.close()
      },
    }
  } catch (error) {
    await core.close()
    throw error
  }
}

async function answerControl(
  control: SandboxCore['control'],
  request: IncomingMessage,
  response: ServerResponse,
  room: BodyRoom,
  warn: (message: string) => void,
): Promise<void> {
  try {
    const { bridge } = await import('./http/control-bridge.js')
    await bridge(control, request, response, room)
  } catch (error) {
    if (!request.socket.destroyed) warn(`The control plane failed: ${messageOf(error)}`)
    request.socket.destroy()
  }
}

function usedSpaces(spaces: Spaces): readonly Space[] {
  const named = spaces.names().flatMap((name) => spaces.get(name) ?? [])
  return [spaces.default, ...named.filter(({ conduct }) => conduct.requests > 0)]
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
