import { CONTROL_PATH, isControl } from '../control/path.js'
import { fetchOf } from '../http/fetch-adapter.js'
import { EMBEDDED_DEFAULTS } from '../options/defaults.js'
import type { ResolvedOptions, SandboxOptions } from '../options/options.js'
import { resolveOptions } from '../options/resolve.js'
import { runSandbox } from '../sandbox.js'
import { openSandboxCore } from '../sandbox-core.js'
import { randomSeed } from '../system/random-seed.js'
import { type KeyKind, keyOf, type SandboxControls, sandboxControlsOf } from './controls.js'
import { inProcess } from './in-process.js'

/** A sandbox in this process that listens on a port. */
export interface Sandbox extends SandboxControls, AsyncDisposable {
  /** `http://127.0.0.1:51234/v1` */
  readonly baseUrl: string
  /** `http://127.0.0.1:51234/__sandbox` */
  readonly controlUrl: string
  /** A fixture key: `key('pro')` is `sandbox-pro`. */
  key(kind?: KeyKind): string
  /** Resolves when the port is free and everything is written. */
  close(): Promise<void>
}

/** A sandbox in this process without a socket. */
export interface SocketlessSandbox extends SandboxControls, AsyncDisposable {
  /** The address that its `fetch` answers for. There is no server. */
  readonly baseUrl: string
  readonly controlUrl: string
  key(kind?: KeyKind): string
  /** Like the global `fetch`, but it reaches only this sandbox. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/**
 * Starts a sandbox on a free port, in memory, unless the options say otherwise.
 * Neither the environment nor a config file is read.
 *
 * @throws OptionsError (`INVALID_OPTIONS`), or an error whose `code` says why it cannot start: PORT_IN_USE, STORE_LOCKED …
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const running = await runSandbox(resolve(options), { onShutdown: () => void close() })
  const close = once(() => running.stop('clean'))
  return {
    ...sandboxControlsOf(inProcess(running.core.controlTarget)),
    baseUrl: running.baseUrl,
    controlUrl: running.controlUrl,
    key: (kind = 'default') => keyOf(kind),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The origin that a sandbox without a socket answers for. */
const SOCKETLESS_ORIGIN = 'http://localhost'

/** The same without a socket: requests go through `sandbox.fetch`. */
export async function createSandbox(options: SandboxOptions = {}): Promise<SocketlessSandbox> {
  const resolved = resolve(options)
  const core = await openSandboxCore(resolved, { onShutdown: () => void close() })
  const close = once(() => core.close())
  await core.begin('')
  const service = fetchOf(core, core.controlTarget.stopping)
  return {
    ...sandboxControlsOf(inProcess(core.controlTarget)),
    baseUrl: SOCKETLESS_ORIGIN + resolved.basePath,
    controlUrl: SOCKETLESS_ORIGIN + CONTROL_PATH,
    key: (kind = 'default') => keyOf(kind),
    async fetch(input, init) {
      const request = new Request(input, init)
      if (!isControl(new URL(request.url).pathname)) return service(request)
      // Code that holds the sandbox object may control it, whatever the host name.
      request.headers.set('host', 'localhost')
      return core.control(request)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function resolve(options: SandboxOptions): ResolvedOptions {
  return resolveOptions(options, { defaults: EMBEDDED_DEFAULTS, cwd: process.cwd(), randomSeed })
}

function once(act: () => Promise<void>): () => Promise<void> {
  let acted: Promise<void> | undefined
  return () => {
    acted ??= act()
    return acted
  }
}
