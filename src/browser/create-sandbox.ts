import type { SocketlessSandbox } from '../api/controls.js'
import type { BrowserOptions } from './options.js'
import { openWithCore } from './with-core.js'

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
  const { sandbox, save } = await openWithCore(options)
  return { ...sandbox, save }
}
