import type { Operation } from '../../contract/contract.js'
import type { Handler } from '../request-context.js'
import { noteHeader } from '../responses.js'

/** Tells that an operation only looks as if it did something: in a header, and once as a warning. */
export function withNote({ id }: Operation, apply: Handler): Handler {
  const note = `${id} shows the record with the fields of the body, and stores nothing. For another effect, write a handler (--handlers, or sandbox.handle).`
  let isWarned = false
  return (context, readings) => {
    const { warn, reason } = context.space.shared
    if (!isWarned) warn(note)
    isWarned = true
    const reply = apply(context, readings)
    if (!reason || reply.status >= 300) return reply
    return { ...reply, headers: [...(reply.headers ?? []), ...noteHeader(note)] }
  }
}
