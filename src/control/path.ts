/** Path of the control plane on every sandbox, outside the service's own paths. */
export const CONTROL_PATH = '/__sandbox'
export const DASHBOARD_PATH = `${CONTROL_PATH}/`

/** Whether a request is for the control plane, by its target. */
export function isControl(target: string): boolean {
  return target.startsWith(CONTROL_PATH) && /^(?:[/?]|$)/.test(target.slice(CONTROL_PATH.length))
}
