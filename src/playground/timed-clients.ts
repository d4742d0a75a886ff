import type { WithCore } from '../browser/with-core.js'
import { type EpochMs, readRetryAfter, SECOND_MS } from '../domain/time.js'
import { createFetch } from '../http/fetch-adapter.js'
import type { TimedResponse } from '../web/playground/worker-messages.js'

/** A request hangs only if someone has set such a fault. */
const TIMEOUT_MS = 10_000

/**
 * Sends the requests of clients that live by the clocks of their spaces, one client a space. The clock stands between
 * them, and a latency moves it.
 */
export class TimedClients {
  readonly #sandbox: WithCore
  /** By space: each client has received all responses to its earlier requests. */
  readonly #fetches = new Map<string, ReturnType<typeof createFetch>>()

  constructor(sandbox: WithCore) {
    this.#sandbox = sandbox
  }

  /** @throws ControlError if the clock is past that instant */
  async send(name: string, at: EpochMs): Promise<TimedResponse> {
    const { core, sandbox } = this.#sandbox
    const { clock, key } = sandbox.space(name)
    await clock.set({ now: new Date(at), frozen: true })
    const send =
      this.#fetches.get(name) ??
      createFetch(core, core.controlTarget.stopping, async (latency) => void (await clock.advance(`${latency}ms`)))
    this.#fetches.set(name, send)
    const request = new Request(`${sandbox.baseUrl}/pets?limit=1`, {
      headers: { authorization: `Bearer ${key('free')}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const { status = 0, headers = new Headers() } = (await send(request).catch(() => undefined)) ?? {}
    const wait = readRetryAfter(headers.get('Retry-After') ?? undefined, headers.get('Date') ?? undefined, undefined)
    return {
      status,
      retryAfter: wait === undefined ? null : wait / SECOND_MS,
      isBanned: headers.get('X-Sandbox-Reason') === 'ban',
      at: Date.parse((await clock.show()).now),
    }
  }
}
