import type { IncomingMessage, ServerResponse } from 'node:http'
import { SLOW_BODY_MS, type WireFault } from '../domain/faults.js'
import { textOf } from '../domain/long-body.js'
import type { Reply } from '../domain/messages.js'
import { rawResponse } from './raw-response.js'
import { inTurn } from './turns.js'
import { withoutHeader } from './without-header.js'

/** In so many pieces a slow body is sent. @source docs/switches.md, "slow-body" */
const SLOW_BODY_PIECES = 20

/** A chunk whose announced size is not a number. */
const MALFORMED_CHUNKS = '7\r\n[{"id":\r\nnot-a-chunk-size\r\n}{'

/** Requests left unanswered until the client goes away or the server stops. */
export type Hanging = Set<ServerResponse>

/** Does to an answer what was asked for, when its turn has come. */
export function sendFaulty(
  fault: WireFault,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  hanging: Hanging,
): void {
  const { socket } = request
  switch (fault) {
    case 'connection-reset':
      inTurn(response, () => socket.resetAndDestroy())
      return
    case 'empty-response':
      inTurn(response, () => socket.destroySoon())
      return
    case 'malformed-chunk': {
      const headers = withoutHeader(reply.headers, 'Content-Length')
      headers.push('Content-Type', 'application/json', 'Transfer-Encoding', 'chunked')
      inTurn(response, () => socket.end(rawResponse(reply.status, headers, MALFORMED_CHUNKS)))
      return
    }
    case 'hang':
      inTurn(response, () => {
        hanging.add(response)
        response.once('close', () => hanging.delete(response))
        if (socket.readableEnded) socket.destroy()
      })
      return
    case 'slow-body':
      sendSlowly(response, reply)
  }
}

function sendSlowly(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, reply.headers)
  response.flushHeaders()
  const bytes = Buffer.from(textOf(reply.body))
  let piece = 0
  const timer = setInterval(() => {
    const from = Math.round((bytes.length * piece) / SLOW_BODY_PIECES)
    piece++
    response.write(bytes.subarray(from, Math.round((bytes.length * piece) / SLOW_BODY_PIECES)))
    if (piece < SLOW_BODY_PIECES) return
    clearInterval(timer)
    response.end()
  }, SLOW_BODY_MS / SLOW_BODY_PIECES)
  response.once('close', () => clearInterval(timer))
}
