import { type EndedExchange, type Reply, type ResponseEnd, textOf } from '../domain/messages.js'

/** Monotonic milliseconds. */
export interface ReplyTimes {
  /** When its request arrived. */
  readonly arrivedAt: number
  /** How long it was held back, without the present wait. */
  waitedMs: number
  /** Start of the present wait. */
  waitsSince: number | undefined
  /** When it began to be sent, if that took longer than a moment. */
  beganAt: number | undefined
}

export function replyTimes(arrivedAt: number): ReplyTimes {
  return { arrivedAt, waitedMs: 0, waitsSince: undefined, beganAt: undefined }
}

interface ReplyEnd {
  readonly how: ResponseEnd
  readonly times: ReplyTimes
  readonly now: number
  /** Something of it was sent. */
  readonly isAnswered: boolean
  readonly connection: number
  readonly instead?: Reply | undefined
}

/** @returns undefined for a reply that no space has made */
export function endedExchange(
  { exchange }: Reply,
  { how, times, now, isAnswered, connection, instead }: ReplyEnd,
): EndedExchange | undefined {
  if (exchange === undefined) return undefined
  const { space, id, position } = exchange
  const { arrivedAt, waitedMs, waitsSince, beganAt } = times
  const ended: EndedExchange = {
    space,
    id,
    position,
    how,
    durationMs: now - arrivedAt,
    waitingMs: waitsSince === undefined ? waitedMs : waitedMs + now - waitsSince,
    bodyMs: beganAt === undefined ? 0 : now - beganAt,
    connection,
  }
  // The usual case, for every request.
  if (isAnswered && instead === undefined) return ended
  return {
    ...ended,
    ...(isAnswered ? {} : { isUnanswered: true }),
    ...(instead === undefined ? {} : { instead: { status: instead.status, body: textOf(instead.body) } }),
  }
}
