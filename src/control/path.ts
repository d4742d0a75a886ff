/** Where the control plane is on every sandbox: outside the service's own paths. */
export const CONTROL_PATH = '/__sandbox'
