import type { AnswerEnd } from '../domain/ending.js'
import { textOf } from '../domain/long-body.js'
import type { EndedExchange, Reply } from '../domain/messages.js'

/** When what happened to an answer, in monotonic milliseconds. */
export interface AnswerTimes {
  /** Its request had come. */
  readonly arrivedAt: number
  /** How long it was held back until now, not counting the wait that is running. */
  waitedMs: number
  /** Since when it is held back, if it is. */
  waitsSince: number | undefined
  /** It began to leave, and was not done at once. */
  beganAt: number | undefined
}

/** What became of a reply, and of what was sent in its place. */
interface ReplyEnd {
  readonly how: AnswerEnd
  readonly times: AnswerTimes
  /** Monotonic. */
  readonly now: number
  /** Something of it has left. */
  readonly isAnswered: boolean
  /** Ordinal of the connection that carried it. */
  readonly connection: number
  readonly instead?: Reply | undefined
}

/** Says what became of the exchange of a reply; undefined if no space has answered it. */
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
  // Most are whole: this is made for every request.
  if (isAnswered && instead === undefined) return ended
  return {
    ...ended,
    ...(isAnswered ? {} : { isUnanswered: true }),
    ...(instead === undefined ? {} : { instead: { status: instead.status, body: textOf(instead.body) } }),
  }
}
