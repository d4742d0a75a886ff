export type { NetworkOptions } from '../api/over-network.js'
export { connectSandbox } from '../api/over-network.js'
export type * from '../api/public-types.js'
export { ControlError } from '../control/control-error.js'
