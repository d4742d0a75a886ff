import { QuotaHistory } from '../history.js'
import { REPLICA_FLAGS, ReplicaGroup } from '../replica-group.js'
import type { Experiment } from '../trial.js'
import { request, Wire } from '../wire.js'

const REPLICAS = 3
const CLIENTS = 24
/** What the free plan allows in a minute. */
const QUOTA = 60
/** Each client asks so often for a quota: more than there is for all of them. */
const TRIES = 4
const FLAGS = [...REPLICA_FLAGS, '--log-limit', '0']

/** 24 clients spend one quota through three replicas, all at once. */
export const replicasOneQuota: Experiment = {
  counts: `quotas of ${QUOTA} of which exactly ${QUOTA} requests were granted, over ${REPLICAS} replicas and ${CLIENTS} clients`,
  async run(trial) {
    const group = await ReplicaGroup.start(trial, REPLICAS, FLAGS)
    if (group === undefined) return
    const wires = await Promise.all(
      Array.from({ length: CLIENTS }, () => Promise.all(group.seats.map(({ port }) => Wire.open(port)))),
    )
    for (let round = 0; round < trial.size(1000, 40); round++) {
      const quota = new QuotaHistory(trial, `${round}`, QUOTA)
      await Promise.all(
        wires.map(async (toEach) => {
          for (let attempt = 0; attempt < TRIES; attempt++) {
            const wire = trial.oneOf(toEach)
            wire.send(request('GET', '/v1/pets?limit=1', { key: `sandbox-free~quota-${round}` }))
            const heard = await wire.answer()
            if (typeof heard === 'string') return trial.lose(`a request was left without an answer: ${heard}`)
            if (heard.status === 200) quota.grant(Number(heard.headers.get('x-ratelimit-remaining')))
            else if (heard.status === 429) quota.refused++
            else trial.lose(`a request was answered ${heard.status} ${heard.body}`)
          }
        }),
      )
      const { granted, refused } = quota
      trial.check(
        granted === QUOTA && granted + refused === CLIENTS * TRIES,
        () => `round ${round}: ${granted} granted, ${refused} refused`,
      )
    }
    for (const wire of wires.flat()) wire.close()
  },
}
