import { openSandboxCore, type SandboxCore, type SavedSandbox } from '../compose.js'
import { AsyncQueue } from '../control/async-queue.js'
import { CONTROL_PATH, isControl } from '../control/path.js'
import { perform } from '../control/perform.js'
import { type ControlTarget, findSpace } from '../control/verb.js'
import type { VerbName } from '../control/verb-map.js'
import { readFilter } from '../control/verbs/requests.js'
import { type Exchange, exchangeView } from '../exchanges/exchange-record.js'
import { createFetch } from '../http/fetch-adapter.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { openInSteps } from '../system/cleanup-stack.js'
import { fixtureKey, type SocketlessSandbox, sandboxControls, type Transport } from './controls.js'

export function inProcess(sandbox: ControlTarget): Transport {
  return {
    call: (name, space, input) => perform(sandbox, space, name as VerbName, input),
    follow: (space, filter, signal) => follow(sandbox, space, filter, signal),
  }
}

async function* follow(
  sandbox: ControlTarget,
  name: string,
  given: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<Exchange> {
  const { space, isWanted } = await sandbox.read(() => {
    const space = findSpace(sandbox.spaces, name)
    return { space, isWanted: readFilter(space, given) }
  })
  const queue = new AsyncQueue<Exchange>()
  const end = () => queue.close()
  const unfollow = space.log.follow({
    onEnded(record) {
      if (isWanted(record)) queue.push(exchangeView(record))
    },
    end,
  })
  const ends = AbortSignal.any([sandbox.stopping, ...(signal === undefined ? [] : [signal])])
  if (ends.aborted) end()
  ends.addEventListener('abort', end)
  try {
    for (;;) {
      const delivery = await queue.take()
      if (delivery.kind !== 'items') return
      yield* delivery.items
    }
  } finally {
    unfollow()
    ends.removeEventListener('abort', end)
  }
}

const ORIGIN = 'http://localhost'

export function openSocketless(
  options: ResolvedOptions,
  transportTo: (target: ControlTarget) => Transport,
  saved?: SavedSandbox,
): Promise<{ readonly core: SandboxCore; readonly sandbox: SocketlessSandbox }> {
  return openInSteps(async (opened) => {
    const close = () => opened.close()
    const core = await openSandboxCore(options, { onShutdown: () => void close() }, undefined, undefined, saved)
    opened.defer(core.close)
    await core.begin('')
    const service = createFetch(core, core.controlTarget.stopping)
    const sandbox: SocketlessSandbox = {
      ...sandboxControls(transportTo(core.controlTarget)),
      baseUrl: ORIGIN + core.spaces.default.shared.basePath,
      controlUrl: ORIGIN + CONTROL_PATH,
      key: (kind, as) => fixtureKey(kind, '', as),
      async fetch(input, init) {
        const request = input instanceof Request && init === undefined ? input : new Request(input, init)
        // The caller holds the sandbox object, so it may control it, whatever the host name.
        if (isControl(new URL(request.url).pathname)) return core.control(request, 'owner')
        return service(request, { relayed: init?.relayed })
      },
      close,
      [Symbol.asyncDispose]: close,
    }
    return { core, sandbox }
  })
}
