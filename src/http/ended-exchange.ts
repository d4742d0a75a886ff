import { type EndedExchange, type Reply, type ResponseEnd, textOf } from '../domain/messages.js'

/** Monotonic milliseconds. */
export interface ReplyTimes {
  readonly arrivedAt: number
  /** Without the current wait. */
  waitedMs: number
  waitsSince: number | undefined
  /** Start of sending, if the response was not sent at once. */
  beganAt: number | undefined
}

export function replyTimes(arrivedAt: number): ReplyTimes {
  return { arrivedAt, waitedMs: 0, waitsSince: undefined, beganAt: undefined }
}

interface ReplyEnd {
  readonly how: ResponseEnd
  readonly times: ReplyTimes
  readonly now: number
  readonly isAnswered: boolean
  readonly connection: number
  readonly instead?: Reply | undefined
}

/** @returns undefined for a reply without an exchange */
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
  if (isAnswered && instead === undefined) return ended
  return {
    ...ended,
    ...(isAnswered ? {} : { isUnanswered: true }),
    ...(instead === undefined ? {} : { instead: { status: instead.status, body: textOf(instead.body) } }),
  }
}
