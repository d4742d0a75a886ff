import { HAS_NGINX, Nginx } from '../nginx.js'
import { type HeardPet, ReplicaGroup, SpaceHistory } from '../replicas.js'
import type { Experiment } from '../trial.js'
import { request, Wire } from '../wire.js'

const REPLICAS = 3
const CLIENTS = 12

/** All replicas behind nginx are restarted, one after the other, by SIGTERM, while they are used. */
export const replicasRollingRestart: Experiment = {
  counts: 'requests through nginx, all successful',
  async run(trial) {
    if (!HAS_NGINX) return trial.note('left out: nginx is not installed')
    const group = await ReplicaGroup.start(trial, REPLICAS, ['--no-rate-limit', '--log-limit', '0'], {
      keepsPorts: true,
    })
    if (group === undefined) return
    const ports = group.seats.map(({ port }) => port)
    const nginx = await Nginx.start(trial.folder(), ports)
    trial.afterwards(() => nginx.end())
    const history = new SpaceHistory(trial, '')
    let isOver = false
    let count = 0
    const statuses = new Map<number, number>()
    const clients = Array.from({ length: CLIENTS }, async () => {
      let wire = await Wire.open(nginx.port)
      while (!isOver) {
        const number = ++count
        const pet = { name: `pet ${number}`, categoryId: number }
        const acknowledge = number % 4 === 0 ? history.send(pet) : undefined
        wire.send(
          acknowledge === undefined
            ? request('GET', '/v1/pets?limit=5')
            : request('POST', '/v1/pets', { body: JSON.stringify(pet) }),
        )
        const heard = await wire.response()
        if (typeof heard === 'string') {
          trial.lose(`a request got no response: ${heard}`)
          wire = await Wire.open(nginx.port)
          continue
        }
        statuses.set(heard.status, (statuses.get(heard.status) ?? 0) + 1)
        if (acknowledge !== undefined && heard.status === 201) acknowledge(JSON.parse(heard.body) as HeardPet)
        trial.check(heard.status < 300, () => `a request was answered ${heard.status} ${heard.body}`)
        if (heard.headers.get('connection') === 'close') {
          wire.close()
          wire = await Wire.open(nginx.port)
        }
      }
      wire.close()
    })
    const rounds = trial.size(10, 1)
    for (let round = 0; round < rounds; round++) {
      for (const seat of group.seats) {
        const { code } = await seat.server.stop('SIGTERM')
        trial.check(code === 0, () => `a replica was stopped and ended with ${code}: ${seat.server.said}`)
        await seat.startAgain()
        await group.untilHealthy()
      }
    }
    isOver = true
    await Promise.all(clients)
    if (trial.lost > 0) trial.lose(nginx.complaints().split('\n').slice(0, 9).join('\n'))
    const answered = [...statuses].map(([status, number]) => `${number} with ${status}`).join(', ')
    trial.note(`${rounds * REPLICAS} restarts; ${answered}; ${history.acknowledged} pets acknowledged`)
  },
}
