import { STATUS_CODES } from 'node:http'

/** A response as it goes over the wire, for sockets without a ServerResponse. Close the connection after it. */
export function rawResponse(status: number, headers: readonly string[], body: string): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${head}Connection: close\r\n\r\n${body}`
}
