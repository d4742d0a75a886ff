import type { HandlerResult } from '../../domain/messages.js'

/** Every operation of the packaged contract has a handler. */
export function mockedOperation(..._given: readonly unknown[]): HandlerResult {
  throw new Error('A browser has no Prism.')
}

export function mockedResponse(...given: readonly unknown[]): HandlerResult {
  return mockedOperation(...given)
}
