import { addressInSpace } from '../domain/space-address.js'
import { EMBEDDED_DEFAULTS, type SandboxOptions } from '../options/options.js'
import { type ResolvedOptions, resolveOptions } from '../options/resolve.js'
import { type RunningSandbox, runSandbox } from '../start/sandbox.js'
import { randomSeed } from '../system/this-process.js'
import { fixtureKey, type Sandbox, type SocketlessSandbox, sandboxControls } from './controls.js'
import { inProcess } from './in-process.js'
import { openSocketless } from './socketless.js'

/**
 * Starts a sandbox. Default: on a free port, in memory. The environment and config files are not read.
 *
 * @throws OptionsError (`INVALID_OPTIONS`), or an error with a `code`: PORT_IN_USE, STORE_LOCKED …
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const started = runSandbox(resolve(options), { onShutdown: () => void started.then(stop).catch(() => {}) })
  const running = await started
  const close = () => stop(running)
  const { contract } = running.core.spaces.default.shared
  return {
    ...sandboxControls(
      inProcess(running.core.controlTarget),
      (space) => ({ baseUrl: addressInSpace(running.baseUrl, space) }),
      contract,
    ),
    baseUrl: running.baseUrl,
    controlUrl: running.controlUrl,
    key: (kind, as) => fixtureKey(kind, '', as, contract),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Starts a sandbox without a socket: requests go through `sandbox.fetch`. */
export async function createSandbox(options: SandboxOptions = {}): Promise<SocketlessSandbox> {
  const { sandbox } = await openSocketless(resolve(options), inProcess)
  return sandbox
}

const stop = (running: RunningSandbox) => running.stop('clean')

function resolve(options: SandboxOptions): ResolvedOptions {
  return resolveOptions(options, { defaults: EMBEDDED_DEFAULTS, cwd: process.cwd(), randomSeed })
}
