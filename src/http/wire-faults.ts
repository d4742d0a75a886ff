import { type ServerResponse, STATUS_CODES } from 'node:http'
import { SLOW_BODY_MS, type WireFault } from '../domain/faults.js'
import { bodyText, type Reply } from '../domain/messages.js'
import { clearInterval, setInterval, systemClock } from '../system/system-clock.js'
import { withoutHeader } from './replies.js'

const SLOW_BODY_PIECES = 20

const MALFORMED_CHUNKS = '7\r\n[{"id":\r\nnot-a-chunk-size\r\n}{'

export function applyFault(
  fault: WireFault,
  response: ServerResponse,
  reply: Reply,
  hanging: Set<ServerResponse>,
): void {
  const { socket } = response.req
  switch (fault) {
    case 'connection-reset':
      whenFirstInPipeline(response, () => socket.resetAndDestroy())
      return
    case 'empty-response':
      whenFirstInPipeline(response, () => socket.destroySoon())
      return
    case 'malformed-chunk': {
      const headers = withoutHeader(reply.headers, 'Content-Length')
      headers.push('Content-Type', 'application/json', 'Transfer-Encoding', 'chunked')
      whenFirstInPipeline(response, () => socket.end(rawResponse(reply.status, headers, MALFORMED_CHUNKS)))
      return
    }
    case 'truncated-body': {
      const bytes = Buffer.from(bodyText(reply.body))
      const head = bytes.length === 0 ? '' : rawResponse(reply.status, reply.headers, '')
      const half = bytes.subarray(0, bytes.length >> 1)
      whenFirstInPipeline(response, () => {
        socket.write(Buffer.concat([Buffer.from(head), half]))
        socket.destroySoon()
      })
      return
    }
    case 'hang':
      whenFirstInPipeline(response, () => {
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
  const bytes = Buffer.from(bodyText(reply.body))
  const startedAt = systemClock.monotonic()
  let sent = 0
  const timer = setInterval(() => {
    // By the time that has passed: on a busy machine, late timers would add up.
    const part = Math.min(1, (systemClock.monotonic() - startedAt) / SLOW_BODY_MS)
    const end = Math.round(bytes.length * part)
    response.write(bytes.subarray(sent, end))
    sent = end
    if (part < 1) return
    clearInterval(timer)
    response.end()
  }, SLOW_BODY_MS / SLOW_BODY_PIECES)
  response.once('close', () => clearInterval(timer))
}

/** Runs once the responses to earlier pipelined requests are sent. */
export function whenFirstInPipeline(response: ServerResponse, act: () => void): void {
  if (response.socket === null) response.once('socket', act)
  else act()
}

/** A response for a socket without a ServerResponse. Close the connection after it. */
export function rawResponse(status: number, headers: readonly string[], body: string): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${head}Connection: close\r\n\r\n${body}`
}
