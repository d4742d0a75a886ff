import type { Contract } from '../contract/contract.js'
import { CONTROL_PATH, isControl } from '../control/path.js'
import type { ControlTarget } from '../control/verb.js'
import { addressInSpace } from '../domain/space-address.js'
import { createFetch } from '../http/fetch-adapter.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { openSandboxCore, type SandboxCore, type SavedSandbox } from '../start/compose.js'
import { openInSteps } from '../system/cleanup-stack.js'
import type { Transport } from './call-verb.js'
import { fixtureKey, type SandboxRequestInit, type SocketlessSandbox, sandboxControls } from './controls.js'

const ORIGIN = 'http://localhost'

/** Opens a sandbox without a socket. @param saved state to resume from @param given contract; default: that of the options */
export function openSocketless(
  options: ResolvedOptions,
  transportTo: (target: ControlTarget) => Transport,
  saved?: SavedSandbox,
  given?: Contract,
): Promise<{ readonly core: SandboxCore; readonly sandbox: SocketlessSandbox }> {
  return openInSteps(async (opened) => {
    let isClosed = false
    const close = () => {
      isClosed = true
      return opened.close()
    }
    const core = await openSandboxCore(options, { onShutdown: () => void close() }, given, undefined, saved)
    opened.defer(core.close)
    await core.begin('')
    const service = createFetch(core, core.controlTarget.stopping)
    const { basePath, contract } = core.spaces.default.shared
    const baseUrl = ORIGIN + basePath
    const fetchIn = (space: string | undefined) => async (input: string | URL | Request, init?: SandboxRequestInit) => {
      if (isClosed) throw new TypeError('fetch failed', { cause: new Error('The sandbox is closed.') })
      const request = input instanceof Request && init === undefined ? input : new Request(input, init)
      // The caller holds the sandbox object, so it may control it, whatever the host name.
      if (isControl(new URL(request.url).pathname)) return core.control(request, 'owner')
      return service(request, { relayed: init?.relayed, space })
    }
    const inSpace = (space: string) => ({ baseUrl: addressInSpace(baseUrl, space), fetch: fetchIn(space) })
    const sandbox: SocketlessSandbox = {
      ...sandboxControls(transportTo(core.controlTarget), inSpace, contract),
      baseUrl,
      controlUrl: ORIGIN + CONTROL_PATH,
      key: (kind, as) => fixtureKey(kind, '', as, contract),
      fetch: fetchIn(undefined),
      close,
      [Symbol.asyncDispose]: close,
    }
    return { core, sandbox }
  })
}
