export { ControlError } from '../api/control-error.js'
export type { NetworkOptions } from '../api/over-network.js'
export { connectSandbox } from '../api/over-network.js'
export type * from '../api/public-types.js'
