import { CONTROL_PATH } from '../../control/path.js'
import type { StateView } from '../../control/views.js'

/** The service's base address, on the server of a control plane. */
export function baseUrlOf(controlUrl: string, { basePath }: Pick<StateView, 'basePath'>): string {
  return controlUrl.slice(0, -CONTROL_PATH.length) + basePath
}
