import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What is known of an open connection. */
export interface Connection {
  readonly socket: Socket
  /** `dueAt` of the last reply sent on it, for whoever sends another request on it has read that; before the first, what a newcomer has heard. */
  heardUntil: number
  /** It has been answered before, so it is not new. */
  isSettled: boolean
  /** The response to the latest request. */
  response: ServerResponse | undefined
  /** To a request whose body is still coming, so that nothing answers it yet. */
  unread: ServerResponse | undefined
  /** Bytes that its reader had taken when there was more to take, and since when it has taken no more. */
  taken: number | undefined
  takenAt: number
  /** It is to end: what still comes on it is not read as a request. */
  isRefused: boolean
}
