import type { HeardPet } from './history.js'
import type { ReplicaClients, Seat } from './replica-clients.js'
import type { Trial } from './trial.js'
import { ask } from './wire.js'

/** After all disturbances, every replica has the acknowledged state, and all agree. */
export async function audit(trial: Trial, seats: readonly Seat[], clients: ReplicaClients): Promise<void> {
  let acknowledged = 0
  for (const [space, history] of clients.spaces) {
    acknowledged += history.acknowledged
    const askedAt = performance.now()
    for (const { port } of seats) history.hold(await pets(port, space), clients.seeds, askedAt, `port ${port}`)
    history.holdOrder()
  }
  for (const quota of clients.quotas.values()) quota.hold()
  await sameEverywhere(trial, seats, clients)
  await sameDigests(trial, seats)
  trial.note(`${acknowledged} acknowledged pets, each once on each of ${seats.length} replicas`)
}

/** Removes the duration of unfinished exchanges of a killed replica, which grows between the reads. */
function withoutRunningTime(text: string): string {
  return text.replaceAll(/("ended":null,"durationMs":)[\d.]+/g, '$1…')
}

/** All replicas say the same of what clients did last. */
export async function sameEverywhere(trial: Trial, seats: readonly Seat[], clients: ReplicaClients): Promise<void> {
  const names = [...clients.spaces.keys(), ...clients.quotas.keys()].slice(-20)
  const same = [
    '/spaces',
    ...names.flatMap((name) => ['state', 'requests', 'conduct', 'pets'].map((what) => `/${what}?space=${name}`)),
  ]
  for (const target of same) {
    const [said, ...others] = await Promise.all(
      seats.map(async ({ port }) => withoutRunningTime(await say(port, target))),
    )
    for (const other of others)
      trial.check(other === said, () => `GET ${target}: replicas say ${difference(said ?? '', other)}`)
  }
}

/** Where two texts part. */
function difference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return `${JSON.stringify(one.slice(at - 60, at + 60))} and ${JSON.stringify(other.slice(at - 60, at + 60))}`
}

/** The last ends of exchanges may arrive within this time. */
const CALM_MS = 60_000
/** A digest writes the whole state. */
const DIGEST_MS = 180_000

/** All replicas hold the same, to the last byte, at the same position. */
async function sameDigests(trial: Trial, seats: readonly Seat[]): Promise<void> {
  const giveUpAt = performance.now() + CALM_MS
  for (;;) {
    const all: Digested[] = []
    for (const { port } of seats) all.push(await digestOf(port))
    const isCalm = new Set(all.map(({ position }) => position)).size === 1
    if (!isCalm && performance.now() < giveUpAt) continue
    const digests = new Set(all.map(({ digest }) => digest))
    trial.check(isCalm && digests.size === 1, () => `digests differ: ${JSON.stringify(all)}`)
    if (isCalm && digests.size === 1)
      trial.note(`equal digests on ${seats.length} replicas at position ${all[0]?.position}`)
    return
  }
}

interface Digested {
  readonly position: number
  readonly digest: string
}

async function digestOf(port: number): Promise<Digested> {
  const replicas = JSON.parse(
    (await say(port, '/replicas?digest=true', DIGEST_MS)).slice('200 '.length),
  ) as readonly (Digested & {
    readonly isThis: boolean
  })[]
  const own = replicas.find(({ isThis }) => isThis)
  if (own === undefined) throw new Error(`the replica at port ${port} does not know itself`)
  const { position, digest } = own
  return { position, digest }
}

/** All pets of a space; empty if the space is not open. */
export async function pets(port: number, space: string): Promise<readonly HeardPet[]> {
  const heard = await ask(port, 'GET', `/__sandbox/pets${space === '' ? '' : `?space=${space}`}`)
  if (typeof heard === 'string' || (heard.status !== 200 && heard.status !== 404)) {
    throw new Error(`the pets of "${space}" cannot be listed: ${typeof heard === 'string' ? heard : heard.body}`)
  }
  return heard.status === 404 ? [] : (JSON.parse(heard.body) as HeardPet[])
}

async function say(port: number, target: string, patienceMs?: number): Promise<string> {
  const heard = await ask(port, 'GET', `/__sandbox${target}`, patienceMs === undefined ? {} : { patienceMs })
  return typeof heard === 'string' ? heard : `${heard.status} ${heard.body}`
}
