import { setTimeout as passes } from 'node:timers/promises'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, request, statusOf, Wire } from '../wire.js'

const PAUSE_MS = 15

/** Requests that come a few bytes at a time, head and body, beside ordinary ones. */
export const slowSenders: Experiment = {
  counts: 'requests, slow and ordinary',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    const count = trial.size(500, 100)
    const pieces = trial.size(100, 25)
    let isOver = false
    const slow = Array.from({ length: count }, async (_, index) => {
      const wire = await Wire.open(server.port)
      const isWrite = index % 2 === 0
      const body = `{"name":"slow ${index}","categoryId":1}`
      const bytes = isWrite ? request('POST', '/v1/pets', { body }) : request('GET', '/v1/pets/1')
      const step = Math.ceil(bytes.length / pieces)
      for (let at = 0; at < bytes.length; at += step) {
        wire.send(bytes.subarray(at, at + step))
        await passes(PAUSE_MS)
      }
      const status = statusOf(await wire.answer())
      trial.check(status === (isWrite ? 201 : 200), () => `a slow sender is answered ${status}`)
      wire.close()
    })
    let longest = 0
    const ordinary = async () => {
      while (!isOver) {
        const askedAt = performance.now()
        const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
        longest = Math.max(longest, performance.now() - askedAt)
        trial.check(status === 200, () => `beside slow senders an ordinary request is answered ${status}`)
      }
    }
    const others = ordinary()
    await Promise.all(slow)
    isOver = true
    await others
    trial.note(`${count} slow ones at a time; the longest wait of an ordinary one ${Math.round(longest)} ms`)
  },
}
