import { setTimeout as passes } from 'node:timers/promises'
import { Client, type Heard, statusOf } from '../client.js'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment, Server, Trial } from '../trial.js'

/** Clients of each kind: on one connection, which write or read; and with a connection for each request. */
const WRITERS = 12
const READERS = 12
const CALLERS = 4
/** Clients that have asked for a large response, and read it when the signal has come. */
const LATE_READERS = 3
/** Pets that make a response larger than the socket buffers. */
const LARGE_PETS = 25
const PADDING = 200_000
const LATE_BY_MS = 200

/**
 * SIGTERM under load: every request that was sent before it is answered, no
 * response is cut, and what was kept is what was acknowledged.
 */
export const stopUnderLoad: Experiment = {
  counts: 'requests under way or sent when the signal came',
  async run(trial) {
    let tooLate = 0
    for (let round = 0; round < trial.size(8, 2); round++) tooLate += await stopOnce(trial, round)
    trial.note(`${tooLate} sent after the signal found the door closed`)
  },
}

/** @returns the number of requests that came too late */
async function stopOnce(trial: Trial, round: number): Promise<number> {
  const folder = trial.folder()
  const isLarge = round % 4 === 0
  const flags = round % 2 === 0 ? UNLIMITED : [...UNLIMITED, '--latency', '5ms..60ms']
  const server = await trial.serve(folder, flags)
  const ledger = await Ledger.begin(trial, server)
  if (isLarge) {
    const client = new Client(server.port)
    for (let pet = 0; pet < LARGE_PETS; pet++) await ledger.write(client, PADDING)
    client.close()
  }
  let isSignalled = false
  let late = 0
  /** One request after the other, until one is not answered. */
  const keepSending = async (client: Client, send: (client: Client, onSent: () => void) => Promise<Heard>) => {
    for (;;) {
      let wasSentBefore = false
      const outcome = statusOf(
        await send(client, () => {
          wasSentBefore = !isSignalled
        }),
      )
      const isAnswered = outcome === 200 || outcome === 201
      if (isAnswered && !isSignalled) continue
      if (wasSentBefore || outcome === 'cut') trial.check(isAnswered, () => `sent before the signal: ${outcome}`)
      else if (!isAnswered) late++
      if (!isAnswered) return client.close()
    }
  }
  const write = (client: Client, onSent: () => void) => ledger.write(client, 0, onSent)
  const read = (client: Client, onSent: () => void) =>
    client.ask('GET', '/v1/pets?limit=5&status=available', { onSent })
  const times = (count: number, keepAlive: boolean, send: typeof read) =>
    Array.from({ length: count }, () => keepSending(new Client(server.port, keepAlive), send))
  const clients = [...times(WRITERS, true, write), ...times(READERS, true, read), ...times(CALLERS, false, read)]
  const lateOnes = isLarge ? await lateReaders(trial, server) : []
  await passes(trial.integer(50, 400))
  isSignalled = true
  const stopped = server.stop(round % 4 < 2 ? 'SIGTERM' : 'SIGINT')
  await Promise.all([...clients, ...lateOnes.map((readLate) => readLate())])
  const { code } = await stopped
  trial.check(code === 0, () => `it ended with ${code}: ${server.said}`)
  await ledger.audit(trial, await trial.serve(folder, UNLIMITED), true)
  return late
}

/** Resolves when the responses have begun. */
function lateReaders(trial: Trial, { port }: Server): Promise<readonly (() => Promise<void>)[]> {
  const begin = async () => {
    let readOn = () => {}
    const allowed = new Promise<void>((resolve) => {
      readOn = resolve
    })
    let heard: Promise<Heard> | undefined
    await new Promise<void>((begun) => {
      const beforeBody = () => {
        begun()
        return allowed
      }
      heard = new Client(port).ask('GET', '/v1/pets?limit=100', { beforeBody })
    })
    return async () => {
      await passes(LATE_BY_MS)
      readOn()
      const outcome = heard && statusOf(await heard)
      trial.check(outcome === 200, () => `a large response that is read late: ${outcome}`)
    }
  }
  return Promise.all(Array.from({ length: LATE_READERS }, begin))
}
