import { AsyncQueue } from '../control/async-queue.js'
import { perform } from '../control/perform.js'
import { type ControlTarget, findSpace } from '../control/verb.js'
import type { VerbName } from '../control/verb-map.js'
import { readFilter } from '../control/verbs/requests.js'
import { type Exchange, exchangeView } from '../exchanges/exchange-record.js'
import type { Transport } from './call-verb.js'

export function inProcess(sandbox: ControlTarget): Transport {
  return {
    call: (name, space, input) => perform(sandbox, space, name as VerbName, input),
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
  const queue = new AsyncQueue<Exchange>()
  const end = () => queue.close()
  const unfollow = space.log.follow({
    onEnded(record) {
      if (isWanted(record)) queue.push(exchangeView(record))
    },
    end,
  })
  const ends = AbortSignal.any([sandbox.stopping, ...(signal === undefined ? [] : [signal])])
  if (ends.aborted) end()
  ends.addEventListener('abort', end)
  try {
    for (let items = await queue.take(); items !== undefined; items = await queue.take()) {
      for (const item of items) {
        if (signal?.aborted) return
        yield item
      }
    }
  } finally {
    unfollow()
    ends.removeEventListener('abort', end)
  }
}
