import type { ServerResponse } from 'node:http'
import { SLICE_CHARACTERS, slicesOf } from '../domain/long-body.js'
import type { Reply } from '../domain/messages.js'

export function isLong({ body }: Reply): boolean {
  return typeof body !== 'string' || body.length > SLICE_CHARACTERS
}

/**
 * Sends a long body slice by slice, each when the reader has taken the one
 * before: a reader who is slow holds one slice, not a copy of the body.
 *
 * @param failed is told if a slice cannot be made
 */
export function sendLong(response: ServerResponse, { body, binary }: Reply, failed: (error: unknown) => void): void {
  const slices = slicesOf(binary ?? body)
  const encoding = binary === undefined ? 'utf8' : 'latin1'
  const next = () => {
    try {
      const { done, value } = slices.next()
      if (done) response.end()
      else response.write(value, encoding, (error) => error ?? next())
    } catch (error) {
      failed(error)
    }
  }
  next()
}
