import { EMBEDDED_DEFAULTS } from '../options/defaults.js'
import type { ResolvedOptions, SandboxOptions } from '../options/options.js'
import { resolveOptions } from '../options/resolve.js'
import { runSandbox } from '../sandbox.js'
import { randomSeed } from '../system/random-seed.js'
import { keyOf, sandboxControlsOf } from './controls.js'
import { inProcess } from './in-process.js'
import { once } from './once.js'
import type { Sandbox, SocketlessSandbox } from './sandbox.js'
import { openSocketless } from './socketless.js'

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

/** The same without a socket: requests go through `sandbox.fetch`. */
export async function createSandbox(options: SandboxOptions = {}): Promise<SocketlessSandbox> {
  const { sandbox } = await openSocketless(resolve(options), inProcess)
  return sandbox
}

function resolve(options: SandboxOptions): ResolvedOptions {
  return resolveOptions(options, { defaults: EMBEDDED_DEFAULTS, cwd: process.cwd(), randomSeed })
}
