import { setHandler } from '../control/handlers.js'
import { perform } from '../control/perform.js'
import { type ControlTarget, findSpace } from '../control/verb.js'
import type { VerbName } from '../control/verb-map.js'
import { readFilter } from '../control/verbs/requests.js'
import { type Exchange, type ExchangeRecord, exchangeView } from '../exchanges/exchange-record.js'
import type { Transport } from './call-verb.js'

export function inProcess(sandbox: ControlTarget): Transport {
  return {
    // Copies, as over the network: what a program does to a record that it read must not change the stored one.
    call: async (name, space, input) => structuredClone(await perform(sandbox, space, name as VerbName, input)),
    async handle(space, operation, handler) {
      setHandler(sandbox.spaces.default, space, operation, handler)
    },
    follow: (space, filter, signal) => follow(sandbox, space, filter, signal),
  }
}

async function* follow(
  sandbox: ControlTarget,
  name: string,
  given: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<Exchange> {
  const { space, isWanted } = await sandbox.read(() => {
    const space = findSpace(sandbox.spaces, name)
    return { space, isWanted: readFilter(space, given) }
  })
  const ends = AbortSignal.any([sandbox.stopping, ...(signal === undefined ? [] : [signal])])
  let stop = () => {}
  const reader = new ReadableStream<Exchange>({
    start(queue) {
      const end = () => {
        stop()
        queue.close()
      }
      const onEnded = (record: ExchangeRecord) => {
        if (isWanted(record)) queue.enqueue(exchangeView(record))
      }
      const unfollow = space.log.follow({ onEnded, end })
      ends.addEventListener('abort', end)
      stop = () => {
        unfollow()
        ends.removeEventListener('abort', end)
      }
      if (ends.aborted) end()
    },
  }).getReader()
  try {
    for (let next = await reader.read(); !next.done && !signal?.aborted; next = await reader.read()) yield next.value
  } finally {
    stop()
  }
}
