import type { SocketlessSandbox, Transport } from '../api/controls.js'
import { openSocketless } from '../api/socketless.js'
import type { SandboxCore } from '../compose.js'
import type { ControlTarget } from '../control/verb.js'
import type { BrowserOptions } from './options.js'
import { resolveBrowserOptions } from './resolve-options.js'
import { readSaved, type SavedPage, writeSaved } from './saved.js'

export interface WithCore {
  readonly core: SandboxCore
  readonly sandbox: SocketlessSandbox
  save(): Promise<Uint8Array<ArrayBuffer>>
}

/** @throws OptionsError with all problems */
export async function openWithCore(options: BrowserOptions): Promise<WithCore> {
  const saved = options.restore === undefined ? undefined : await readSaved(options.restore)
  const { core, sandbox } = await openSocketless(resolveBrowserOptions(options, saved), verbsOf, saved)
  return { core, sandbox, save: () => writeSaved(pageOf(core)) }
}

/** The verbs are a fifth of the code, and are loaded on first use: a test that only sends requests needs none. */
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
  return { seed, now: typeof start.now === 'number' ? start.now : undefined, ...core.save() }
}
