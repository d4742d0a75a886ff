import type { ServerResponse } from 'node:http'

/** Acts on a connection past node:http when it is the turn of this answer: those to the requests before have left. */
export function inTurn(response: ServerResponse, act: () => void): void {
  if (response.socket === null) response.once('socket', act)
  else act()
}

/** Acts when this answer, and so each before it, has left. */
export function afterwards(response: ServerResponse, act: () => void): void {
  if (response.closed) act()
  else response.once('close', act)
}
