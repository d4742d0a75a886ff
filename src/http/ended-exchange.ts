import type { AnswerEnd } from '../domain/ending.js'
import { textOf } from '../domain/long-body.js'
import type { EndedExchange, Reply } from '../domain/messages.js'

/** What became of a reply, and of what was sent in its place. */
interface ReplyEnd extends Pick<EndedExchange, 'durationMs' | 'connection'> {
  readonly how: AnswerEnd
  readonly instead?: Reply | undefined
}

/** Says what became of the exchange of a reply; undefined if no space has answered it. */
export function endedExchange(
  { exchange }: Reply,
  { how, durationMs, connection, instead }: ReplyEnd,
): EndedExchange | undefined {
  if (exchange === undefined) return undefined
  const { space, id, position } = exchange
  const ended = { space, id, position, how, durationMs, connection }
  if (instead === undefined) return ended
  return { ...ended, instead: { status: instead.status, body: textOf(instead.body) } }
}
