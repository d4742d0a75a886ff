import type { ServiceRequest } from '../domain/messages.js'
import { digestOf } from '../system/digest.js'

/** Up to here a target is its own fingerprint. */
const LONGEST_TARGET = 200

/** What is the same for the same request again: method, path, query and body. */
export function fingerprintOf({ method, target, body }: ServiceRequest): string {
  const head = `${method} ${target}`
  if (body === undefined && head.length <= LONGEST_TARGET) return head
  return digestOf(`${head}\n`, body ?? '')
}
