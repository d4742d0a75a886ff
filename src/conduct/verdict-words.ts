import { withoutOperation } from '../domain/problems.js'
import { addressOf } from '../domain/space-address.js'
import { formatSpan } from '../domain/time.js'
import type { ConductRule, Finding } from './conduct-view.js'

/** What a client does that breaks a rule, after "it" or the name of the client. */
export const RULE_VERDICTS: Readonly<Record<ConductRule, string>> = {
  'early-retry': 'retries too early',
  'no-backoff': 'retries without a pause',
  'request-while-banned': 'keeps sending while banned',
  'repeated-write': 'repeats a stored write',
  'invalid-request': 'sends invalid requests',
  unauthenticated: 'sends no valid key',
  'undocumented-endpoint': 'calls an unknown path',
  'early-retry-likely': 'probably retries too early',
  'no-backoff-likely': 'probably retries without a pause',
  'repeated-write-likely': 'probably repeats a stored write',
  'weak-backoff': 'does not back off',
  'request-while-limited': 'does not pause its key',
  'deprecated-operation': 'calls a deprecated operation',
  'unknown-parameter': 'sends unknown parameters',
  'unknown-field': 'sends unknown fields',
  'undocumented-shape': 'calls an undocumented shape',
  'unknown-space': 'names an unknown space',
  'ignored-parameter': 'sends an ignored parameter',
}

/** `told 58 s, waited 36 ms`; undefined for findings on a single exchange. */
export function waitEvidence({ disobeyed }: Pick<Finding, 'disobeyed'>): string | undefined {
  if (disobeyed === null) return undefined
  const { retryAfter, laterMs } = disobeyed
  return `${retryAfter === null ? '' : `told ${secondsText(retryAfter)}, `}waited ${formatSpan(laterMs)}`
}

/** A Retry-After: `58 s`, or its date. */
export function secondsText(retryAfter: string): string {
  return /^\d+$/.test(retryAfter) ? `${retryAfter} s` : retryAfter
}

/** `GET /v1/pets   429 Retry-After 4  →  came back after 0.1 s`, or the message. */
export function evidenceText({
  operation,
  message,
  request,
  disobeyed,
}: Pick<Finding, 'operation' | 'message' | 'request' | 'disobeyed'>): string {
  if (disobeyed === null) return withoutOperation(operation, message).replace(/\.$/, '')
  const { status, retryAfter, laterMs } = disobeyed
  const response = status === 0 ? 'lost' : `${status}${retryAfter === null ? '' : ` Retry-After ${retryAfter}`}`
  return `${request.method} ${addressOf(request)}   ${response}  →  came back after ${formatSpan(laterMs)}`
}
