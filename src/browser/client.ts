export { connectSandbox } from '../api/connect.js'
export {
  ControlError,
  type Controls,
  type KeyKind,
  type KeyNames,
  type SandboxControls,
  type Space,
} from '../api/controls.js'
export type { NetworkOptions } from '../api/over-network.js'
