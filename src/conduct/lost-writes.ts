import type { Ending, HandlerResult } from '../domain/messages.js'
import type { RecordId } from '../domain/records.js'
import type { FindingDraft } from './finding-drafts.js'
import type { JudgedRequest } from './judged-request.js'
import { elapsed, type GivenResponse, isServed, orderOf, type RefusalNotice, type Sent } from './waits.js'

/** A record that a request has created. */
export interface StoredWrite {
  readonly resource: string
  /** Null in a service behind the sandbox. */
  readonly record: RecordId | null
  /** What the client sees if the response is lost. */
  readonly response: GivenResponse
  /** Another status was sent instead of the success. */
  readonly isReplaced: boolean
}

export interface LostWrite extends Pick<StoredWrite, 'resource' | 'record' | 'response'>, Sent {
  readonly how: Ending['how']
}

/** @returns undefined if the request has created nothing */
export function readWrite(
  { route, request, created }: JudgedRequest,
  { status, lostStatus, fault, reason }: HandlerResult,
  exchange: number,
  notice: RefusalNotice | null,
): StoredWrite | undefined {
  const action = route.kind === 'operation' && !route.operation.isMocked ? route.operation.action : undefined
  const stored = lostStatus ?? ((fault ?? reason) ? 0 : status)
  if (action?.kind !== 'create' || request.method !== 'POST' || stored < 200 || stored > 299) return undefined
  return {
    resource: action.resource,
    record: created ?? null,
    response: notice?.response ?? { exchange, status: 0, retryAfter: null },
    isReplaced: lostStatus !== undefined && fault === undefined,
  }
}

export function isLost({ isReplaced }: StoredWrite, { how, isWithheld }: Ending): boolean {
  return isWithheld !== true && (isReplaced || how === 'cut' || how === 'left')
}

/** Judges a repeated write. A client that reads the collection may repeat its lost writes. */
export function judgeWrites(
  lost: Map<string, LostWrite>,
  judged: JudgedRequest,
  result: HandlerResult,
  fingerprint: string,
): readonly FindingDraft[] {
  const { route } = judged
  const action = route.kind === 'operation' ? route.operation.action : undefined
  if (action === undefined) return []
  // A client that has left sends the next request later.
  const order = (write: LostWrite) => (write.how === 'left' ? 'after' : orderOf(write, judged))
  if (action.kind === 'list' && isServed(result))
    for (const [name, write] of lost)
      if (write.resource === action.resource && order(write) !== 'at-once') lost.delete(name)
  const repeated = action.kind === 'create' ? lost.get(fingerprint) : undefined
  if (repeated === undefined || order(repeated) === 'at-once') return []
  lost.delete(fingerprint)
  const { at, response } = repeated
  const laterMs = Math.max(0, elapsed(repeated, judged))
  return [
    {
      rule: order(repeated) === 'after' ? 'repeated-write' : 'repeated-write-likely',
      detail: '',
      message: '',
      disobeyed: { ...response, at, laterMs, isHeldBack: false },
    },
  ]
}
