import { connect } from 'node:net'

/** How a flood went. */
export interface Flood {
  /** Number of responses by status. */
  readonly statuses: ReadonlyMap<string, number>
  readonly seconds: number
}

const IN_A_ROW = 200

/**
 * Sends many requests over few connections and counts the responses.
 * Responses are found by their first line, so no body may contain one.
 *
 * @param next   the bytes of the next request; undefined at the end
 * @param inARow requests that are sent before the first of them is answered, a connection
 */
export async function flood(
  port: number,
  connections: number,
  next: () => string | undefined,
  inARow = IN_A_ROW,
): Promise<Flood> {
  const statuses = new Map<string, number>()
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, () => stream(port, next, statuses, inARow)))
  return { statuses, seconds: (performance.now() - startedAt) / 1000 }
}

const FIRST_LINE = 'HTTP/1.1 '

function stream(
  port: number,
  next: () => string | undefined,
  statuses: Map<string, number>,
  inARow: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let open = 0
    let rest = ''
    const send = () => {
      let batch = ''
      for (let one = open < inARow ? next() : undefined; one !== undefined; one = open < inARow ? next() : undefined) {
        batch += one
        open++
      }
      if (open === 0) socket.end()
      else if (batch !== '') socket.write(batch)
    }
    socket.setEncoding('latin1')
    socket.on('connect', send)
    socket.on('data', (chunk) => {
      const text = rest + chunk
      let at = text.indexOf(FIRST_LINE)
      let end = 0
      for (; at !== -1 && at + FIRST_LINE.length + 3 <= text.length; at = text.indexOf(FIRST_LINE, end)) {
        end = at + FIRST_LINE.length + 3
        const status = text.slice(end - 3, end)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        open--
      }
      // The beginning of a first line may stand at the end.
      rest = text.slice(Math.max(end, text.length - FIRST_LINE.length - 3))
      if (open <= IN_A_ROW / 2) send()
    })
    socket.on('error', reject)
    socket.on('close', () => (open === 0 ? resolve() : reject(new Error(`${open} requests got no response`))))
  })
}
