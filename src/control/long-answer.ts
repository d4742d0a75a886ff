import { stringifyJson } from '../contract/json.js'
import { type LongBody, slicesOf } from '../domain/long-body.js'

/** The JSON of a list, its items one after the other. */
export function jsonList(items: readonly unknown[]): LongBody {
  return {
    *pieces() {
      let before = '['
      for (const item of items) {
        yield before + stringifyJson(item)
        before = ','
      }
      yield before === '[' ? '[]' : ']'
    },
  }
}

/** A body that is made and encoded as fast as it is read. */
export function streamOf(body: string | LongBody): ReadableStream<Uint8Array> {
  const slices = slicesOf(body)
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = slices.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
    },
    { highWaterMark: 0 },
  )
}
