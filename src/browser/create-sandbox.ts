import type { Transport } from '../api/controls.js'
import type { SocketlessSandbox } from '../api/sandbox.js'
import { openSocketless } from '../api/socketless.js'
import type { ControlTarget } from '../control/verb.js'
import type { SandboxCore } from '../sandbox-core.js'
import type { BrowserOptions } from './options.js'
import { resolveBrowserOptions } from './resolve-options.js'
import { readSaved, type SavedPage, writeSaved } from './saved.js'

/** A sandbox in a page or a worker. Nothing of it leaves the tab. */
export interface BrowserSandbox extends SocketlessSandbox {
  /**
   * All that it is now: pets, quotas, clocks, log, snapshots, chance. `createSandbox({ restore: bytes })`, with the other
   * options as they were, goes on from it. What is under way then is lost, as it is when a page is closed.
   */
  save(): Promise<Uint8Array<ArrayBuffer>>
}

/**
 * Opens a sandbox in this page or worker: requests go through `sandbox.fetch`.
 *
 * @throws OptionsError (`INVALID_OPTIONS`) with everything that is wrong
 */
export async function createSandbox(options: BrowserOptions = {}): Promise<BrowserSandbox> {
  const saved = options.restore === undefined ? undefined : await readSaved(options.restore)
  const { core, sandbox } = await openSocketless(resolveBrowserOptions(options, saved), verbsOf, saved)
  return { ...sandbox, save: () => writeSaved(pageOf(core)) }
}

/** The verbs, a fifth of the sandbox, are loaded with the first of them: a test that only sends requests needs none. */
function verbsOf(target: ControlTarget): Transport {
  const load = async () => (await import('../api/in-process.js')).inProcess(target)
  return {
    call: async (verb, space, ...input) => (await load()).call(verb, space, ...input),
    async *follow(...given) {
      yield* (await load()).follow(...given)
    },
  }
}

function pageOf(core: SandboxCore): SavedPage {
  const { seed, start } = core.spaces.default.shared
  return { seed, now: start.now, ...core.save() }
}
