import type { Transport } from '../api/call-verb.js'
import type { SocketlessSandbox } from '../api/controls.js'
import { openSocketless } from '../api/socketless.js'
import type { ControlTarget } from '../control/verb.js'
import type { SandboxCore } from '../start/compose.js'
import type { BrowserOptions } from './options.js'
import { resolveBrowserOptions } from './resolve-options.js'
import { readSaved, type SavedPage, writeSaved } from './saved.js'

/** A sandbox in a page or a worker. No data leaves the tab. */
export interface BrowserSandbox extends SocketlessSandbox {
  /**
   * Saves the whole state: pets, quotas, clocks, log, snapshots, randomness. `createSandbox({ restore: bytes })` with the
   * same other options continues from it. Requests in flight are lost, as when a page is closed.
   */
  save(): Promise<Uint8Array<ArrayBuffer>>
}

/**
 * Opens a sandbox in this page or worker: requests go through `sandbox.fetch`.
 *
 * @throws OptionsError (`INVALID_OPTIONS`) with all problems
 */
export async function createSandbox(options: BrowserOptions = {}): Promise<BrowserSandbox> {
  const saved = options.restore === undefined ? undefined : await readSaved(options.restore)
  const resolved = resolveBrowserOptions(options, saved)
  const { spec } = options
  const contract = spec === undefined ? undefined : await (await import('./own-contract.js')).readOwnContract(spec)
  const { core, sandbox } = await openSocketless(resolved, verbsOf, saved, contract)
  return { ...sandbox, save: async () => writeSaved(await pageOf(core)) }
}

/** The verbs are a fifth of the code, and are loaded on first use: a test that only sends requests needs none. */
function verbsOf(target: ControlTarget): Transport {
  const load = async () => (await import('../api/in-process.js')).inProcess(target)
  return {
    call: async (verb, space, ...input) => (await load()).call(verb, space, ...input),
    handle: async (...given) => (await load()).handle(...given),
    async *follow(...given) {
      yield* (await load()).follow(...given)
    },
  }
}

async function pageOf(core: SandboxCore): Promise<SavedPage> {
  const { seed, start } = core.spaces.default.shared
  return { seed, now: typeof start.now === 'number' ? start.now : undefined, ...(await core.save()) }
}
