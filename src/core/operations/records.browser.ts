import { isPetCatalogue, type ResourceAction, type ResourceData } from '../../contract/resource-data.js'
import type { Handler } from '../request-context.js'

/** The packaged contract needs no general resources: its operations have handlers of their own. */
export const recordHandler: Handler = () => {
  throw new Error('A browser serves the packaged contract only.')
}

export function isPlainPetAction(_action: ResourceAction, resource: ResourceData): boolean {
  return isPetCatalogue(resource)
}
