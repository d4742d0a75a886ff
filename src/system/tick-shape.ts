import { executionAsyncResource } from 'node:async_hooks'

/** One object of the kind that process.nextTick creates for each call. */
const held: object[] = []

/**
 * Keeps process.nextTick fast, which Node calls several times per request.
 *
 * Node makes an object with computed names for each call. V8 remembers the shape
 * of these objects weakly: a full garbage collection at a moment when there is
 * none forgets it, and from the second shape on V8 stays on the slow path.
 * That always happens if a large store is read before the first request, and
 * can happen to an idle sandbox, too. Holding one object keeps the shape.
 */
export function holdTickShape(): void {
  if (held.length > 0) return
  process.nextTick(() => held.push(executionAsyncResource()))
}
