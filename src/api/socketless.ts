import { CONTROL_PATH, isControl } from '../control/path.js'
import type { ControlTarget } from '../control/verb.js'
import { fetchOf } from '../http/fetch-adapter.js'
import type { ResolvedOptions } from '../options/options.js'
import { openSandboxCore, type SandboxCore, type SavedSandbox } from '../sandbox-core.js'
import { keyOf, sandboxControlsOf, type Transport } from './controls.js'
import { once } from './once.js'
import type { SocketlessSandbox } from './sandbox.js'

/** The origin that a sandbox without a socket answers for. */
const ORIGIN = 'http://localhost'

/**
 * Opens a sandbox without a socket.
 *
 * @param transportTo how its verbs are reached
 * @param saved       what it goes on from, instead of its start
 */
export async function openSocketless(
  options: ResolvedOptions,
  transportTo: (target: ControlTarget) => Transport,
  saved?: SavedSandbox,
): Promise<{ readonly core: SandboxCore; readonly sandbox: SocketlessSandbox }> {
  const core = await openSandboxCore(options, { onShutdown: () => void close() }, undefined, undefined, saved)
  const close = once(() => core.close())
  await core.begin('')
  const service = fetchOf(core, core.controlTarget.stopping)
  const sandbox: SocketlessSandbox = {
    ...sandboxControlsOf(transportTo(core.controlTarget)),
    baseUrl: ORIGIN + options.basePath,
    controlUrl: ORIGIN + CONTROL_PATH,
    key: (kind = 'default') => keyOf(kind),
    async fetch(input, init) {
      const request = input instanceof Request && init === undefined ? input : new Request(input, init)
      // Code that holds the sandbox object may control it, whatever the host name.
      if (isControl(new URL(request.url).pathname)) return core.control(request, 'owner')
      return service(request, { relayed: init?.relayed })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return { core, sandbox }
}
