import type { Ending, HandlerResult } from '../domain/messages.js'
import type { RecordId } from '../domain/records.js'
import type { FindingDraft } from './finding-drafts.js'
import type { JudgedRequest } from './judged-request.js'
import { elapsed, type GivenResponse, orderOf, type RefusalNotice, type Sent } from './waits.js'

/** A record that a request has created. */
export interface StoredWrite {
  readonly resource: string
  /** Values of the path, such as the id of an owner. */
  readonly parents: readonly string[]
  /** Null in a service behind the sandbox. */
  readonly record: RecordId | null
  /** What the client sees if the response is lost. */
  readonly response: GivenResponse
  /** Another status was sent instead of the success. */
  readonly isReplaced: boolean
}

export interface LostWrite extends Pick<StoredWrite, 'resource' | 'parents' | 'record' | 'response'>, Sent {
  readonly how: Ending['how']
}

/** @returns undefined if the request has created nothing */
export function readWrite(
  { route, request, created }: JudgedRequest,
  { status, lostStatus, fault, reason }: HandlerResult,
  exchange: number,
  notice: RefusalNotice | null,
): StoredWrite | undefined {
  if (route.kind !== 'operation' || route.operation.isMocked) return undefined
  const { action } = route.operation
  const stored = lostStatus ?? ((fault ?? reason) ? 0 : status)
  if (action?.kind !== 'create' || request.method !== 'POST' || stored < 200 || stored > 299) return undefined
  return {
    resource: action.resource,
    parents: route.captured,
    record: created ?? null,
    response: notice?.response ?? { exchange, status: 0, retryAfter: null },
    isReplaced: lostStatus !== undefined && fault === undefined,
  }
}

export function isLost({ isReplaced }: StoredWrite, { how, isWithheld }: Ending): boolean {
  return isWithheld !== true && (isReplaced || how === 'cut' || how === 'left')
}

/**
 * A client that has received the collection may repeat its lost writes.
 * @returns the fingerprints of lost writes that the client may repeat once it has received this response
 */
export function findExcused(
  lost: ReadonlyMap<string, LostWrite>,
  judged: JudgedRequest,
  { status, reason, fault, lostStatus }: HandlerResult,
): readonly string[] {
  const { route, request } = judged
  const action = route.kind === 'operation' ? route.operation.action : undefined
  if (route.kind !== 'operation' || action?.kind !== 'list' || request.method !== 'GET') return []
  // Some faults change or slow down the real list; other made-up responses are not the collection.
  const isList = status < 300 && (reason === undefined || (fault !== undefined && lostStatus === status))
  if (!isList) return []
  const isRead = (write: LostWrite) =>
    write.resource === action.resource && route.captured.every((value, at) => value === write.parents[at])
  return [...lost].flatMap(([name, write]) => (isRead(write) && orderOfLost(write, judged) !== 'at-once' ? [name] : []))
}

/** A client that has left sends the next request later. */
function orderOfLost(write: LostWrite, judged: JudgedRequest): ReturnType<typeof orderOf> {
  return write.how === 'left' ? 'after' : orderOf(write, judged)
}

/** Judges a repeated write. */
export function judgeWrites(
  lost: Map<string, LostWrite>,
  judged: JudgedRequest,
  fingerprint: string,
): readonly FindingDraft[] {
  const { route } = judged
  const isCreation = route.kind === 'operation' && route.operation.action?.kind === 'create'
  const repeated = isCreation ? lost.get(fingerprint) : undefined
  const order = repeated === undefined ? 'at-once' : orderOfLost(repeated, judged)
  if (repeated === undefined || order === 'at-once') return []
  lost.delete(fingerprint)
  if (judged.isReplay) return []
  const { at, response } = repeated
  const laterMs = Math.max(0, elapsed(repeated, judged))
  return [
    {
      rule: order === 'after' ? 'repeated-write' : 'repeated-write-likely',
      detail: '',
      message: '',
      disobeyed: { ...response, at, laterMs, isHeldBack: false },
    },
  ]
}
