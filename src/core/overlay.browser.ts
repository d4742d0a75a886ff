import type { HandlerResult } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'

export type Overlaid =
  | { readonly kind: 'local' }
  | { readonly kind: 'refused'; readonly answer: HandlerResult }
  | Forward

/** Behind a sandbox in a browser there is no real service, so nobody asks. */
export function overlaid(..._given: readonly unknown[]): Overlaid {
  return { kind: 'local' }
}

export function forwardedAnswer(..._given: readonly unknown[]): HandlerResult {
  throw new Error('A sandbox in a browser sends nothing on.')
}
