import type { Reply } from '../domain/messages.js'

/** An empty reply to what is no call to the service, so that no space has answered it. */
export function outsideReply(status: number, headers: string[]): Reply {
  return {
    status,
    headers,
    body: '',
    binary: undefined,
    delayMs: 0,
    fault: undefined,
    exchange: undefined,
    isOperated: false,
    isDocumented: false,
  }
}
