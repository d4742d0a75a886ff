import type { ServiceRequest } from '../domain/messages.js'
import { digestOf } from '../system/digest.js'

/** A target up to this length is its own fingerprint. */
const LONGEST_TARGET = 200

/** Identifies repeats of a request by method, path, query and body. */
export function fingerprintOf({ method, target, body }: ServiceRequest): string {
  const head = `${method} ${target}`
  if (body === undefined && head.length <= LONGEST_TARGET) return head
  return digestOf(`${head}\n`, body ?? '')
}
