import { Agent, request } from 'undici'
import type { Running } from '../contestants/contestant.js'
import { CONNECTIONS } from './load.js'

/** How long answers took, in milliseconds. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
}

/**
 * So many calls of listPets a second, whether answers come in time or not: each is
 * measured from when it was due, so that whoever is held up is not left out.
 */
export async function steady({ urls, key }: Running, perSecond: number, seconds: number): Promise<Latencies> {
  const dispatcher = new Agent({ connections: CONNECTIONS, pipelining: 1 })
  const headers = { authorization: `Bearer ${key}` }
  const taken: number[] = []
  const begun = performance.now()
  let next = 0
  const worker = async () => {
    while (next < perSecond * seconds) {
      const due = begun + (next++ * 1000) / perSecond
      const early = due - performance.now()
      // Timers are no finer than a millisecond.
      if (early > 1) await new Promise((resolve) => setTimeout(resolve, early - 1))
      while (performance.now() < due) await new Promise(setImmediate)
      const { statusCode, body } = await request(urls.listPets, { dispatcher, headers })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${urls.listPets} was answered ${statusCode}`)
      taken.push(performance.now() - due)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  await dispatcher.close()
  const sorted = taken.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}
