import { type SandboxControls, sandboxControlsOf } from './controls.js'
import { type NetworkOptions, overNetwork } from './over-network.js'

/**
 * Connects to a running sandbox by the address of its control plane: the same
 * verbs as in process. Nothing is sent before the first verb.
 *
 * @param controlUrl for example `http://127.0.0.1:4010/__sandbox`, as in PETSTORE_SANDBOX_URL
 */
export function connectSandbox(controlUrl: string, options: NetworkOptions = {}): SandboxControls {
  return sandboxControlsOf(overNetwork(controlUrl, options))
}
