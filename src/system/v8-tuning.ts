import { executionAsyncResource } from 'node:async_hooks'

/** One object of the kind that process.nextTick creates for each call. */
const held: object[] = []

/**
 * Keeps process.nextTick fast, which Node calls several times per request.
 *
 * Node makes an object with computed names for each call. V8 remembers their shape weakly: a full garbage collection
 * at a moment without such an object forgets it, and from the second shape on V8 stays on the slow path. That always
 * happens if a large store is read before the first request. Holding one object keeps the shape.
 */
export function holdTickShape(): void {
  if (held.length > 0) return
  process.nextTick(() => held.push(executionAsyncResource()))
}

/**
 * Keeps V8's young generation as large as the start has made it: 2 MB, twice. V8 would double it as objects survive,
 * to 16 MB in Node 20 and 64 in Node 24, twice. A sandbox keeps little of a request, so scavenges cost the same.
 *
 * Only for a process that does nothing else. V8 applies this flag while running, unlike similar ones.
 */
export function limitYoungGeneration(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}
