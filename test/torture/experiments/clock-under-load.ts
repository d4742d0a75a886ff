import type { Server } from '../server.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, type Heard, request, statusOf, Wire } from '../wire.js'

/** So narrow that both windows are spent between two jumps, and impatient clients are banned. */
const NARROW = ['--limits', '5/min,40/day', '--ban-after', '20', '--ban-duration', '10s', '--log-limit', '0'] as const

const CLIENTS = 8
const KEYS = ['sandbox', 'sandbox', 'sandbox-pro', 'sandbox-enterprise']

/** The clock is moved, frozen and let go while clients are served: each answer agrees with itself. */
export const clockUnderLoad: Experiment = {
  counts: 'requests, with their quotas and bans, while the clock jumps',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...NARROW])
    const jumps = trial.size(400, 60)
    let isOver = false
    const statuses = new Map<number, number>()
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      use(trial, server, KEYS[index % KEYS.length] as string, () => isOver, statuses),
    )
    for (let jump = 0; jump < jumps; jump++) {
      const heard = await move(trial, server)
      if (statusOf(heard) !== 200) trial.lose(`moving the clock returns ${JSON.stringify(heard)}`)
    }
    isOver = true
    await Promise.all(clients)
    const told = [...statuses].map(([status, count]) => `${count} with ${status}`)
    trial.note(`${jumps} jumps; ${told.join(', ')}`)
  },
}

function move(trial: Trial, { port }: Server): Promise<Heard> {
  const headers = 'Content-Type: application/json\r\n'
  switch (trial.integer(0, 6)) {
    case 0:
      return ask(port, 'DELETE', '/__sandbox/clock')
    case 1:
      return ask(port, 'PUT', '/__sandbox/clock', { headers, body: '{"frozen":true}' })
    case 2:
      return ask(port, 'PUT', '/__sandbox/clock', { headers, body: '{"frozen":false}' })
    default: {
      const by = trial.oneOf(['1ms', '10ms', '500ms', '1s', '1s', '10s', '59s', '60s', '61s', '24h', '8760h'])
      return ask(port, 'POST', '/__sandbox/clock/advance', { headers, body: `{"by":"${by}"}` })
    }
  }
}

async function use(
  trial: Trial,
  server: Server,
  key: string,
  isOver: () => boolean,
  statuses: Map<number, number>,
): Promise<void> {
  const wire = await Wire.open(server.port)
  while (!isOver()) {
    wire.send(request('GET', '/v1/pets?limit=1', { key }))
    const heard = await wire.answer()
    if (typeof heard === 'string') return trial.lose(`a request got no response: ${heard}`)
    statuses.set(heard.status, (statuses.get(heard.status) ?? 0) + 1)
    const wrong = contradiction(heard.status, heard.headers)
    trial.check(wrong === undefined, () => `${wrong}: ${JSON.stringify([...heard.headers])}`)
  }
  wire.close()
}

/** A statement in the response that is false at any time; undefined if all can be true. */
function contradiction(status: number, headers: ReadonlyMap<string, string>): string | undefined {
  const number = (name: string) => Number(headers.get(name))
  const date = Math.floor(Date.parse(headers.get('date') ?? '') / 1000)
  if (status !== 200 && status !== 429) return `it was answered with ${status}`
  if (!(number('x-ratelimit-remaining') >= 0)) return 'nothing says how many requests remain'
  if (!(number('x-ratelimit-reset') >= date)) return 'the window was over before it was answered'
  if (number('x-ratelimit-reset') > date + 24 * 60 * 60 + 1) return 'the window is longer than a day'
  if (status === 429 && !(number('retry-after') >= 1)) return 'nothing says how long to wait'
  return undefined
}
