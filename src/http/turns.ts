import type { ServerResponse } from 'node:http'

/** Acts on a connection past node:http when it is the turn of this answer: those to the requests before have left. */
export function inTurn(response: ServerResponse, act: () => void): void {
  if (response.socket === null) response.once('socket', act)
  else act()
}

/** Acts when this answer, and so each before it, has left; before Node does, which may end the connection then. */
export function afterwards(response: ServerResponse, act: () => void): void {
  const hasLeft = response.socket === null && response.writableFinished
  if (hasLeft) act()
  else response.prependOnceListener('finish', act)
}
