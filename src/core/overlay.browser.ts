import type { HandlerResult } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'

/** Browsers have no real service behind the sandbox. */
export function overlay(..._given: readonly unknown[]): HandlerResult | Forward | undefined {
  return undefined
}

export function forwardedResponse(..._given: readonly unknown[]): HandlerResult {
  throw new Error('A sandbox in a browser cannot forward requests.')
}
