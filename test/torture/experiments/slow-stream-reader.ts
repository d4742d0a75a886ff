import type { Experiment } from '../trial.js'
import { request, statusOf, Wire } from '../wire.js'

const READERS = 5
const IN_A_ROW = 100
const MOST_MIB = 400

/** Unread streams of exchanges, with many large exchanges. */
export const slowStreamReader: Experiment = {
  counts: 'requests beside unread streams',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', '--no-rate-limit'])
    const before = server.memory()
    const streams = await Promise.all(Array.from({ length: READERS }, () => Wire.open(server.port)))
    for (const stream of streams) {
      stream.send(request('GET', '/__sandbox/requests/stream'))
      // Only a followed stream can pile up.
      while (!stream.unread.includes(': connected')) await new Promise((resolve) => stream.socket.once('data', resolve))
      stream.socket.pause()
    }
    const wire = await Wire.open(server.port)
    const many = Buffer.concat(Array.from({ length: IN_A_ROW }, () => request('GET', '/v1/pets?limit=100')))
    for (let sent = 0; sent < trial.size(15_000, 2000); sent += IN_A_ROW) {
      wire.send(many)
      for (let i = 0; i < IN_A_ROW; i++) {
        const status = statusOf(await wire.response())
        trial.check(status === 200, () => `beside an unread stream: ${status}`)
      }
    }
    const held = server.peakMemory()
    if (held > MOST_MIB) trial.lose(`it held ${held} MiB for streams that nobody read`)
    // A reader that resumes gets the number of dropped events.
    for (const stream of streams) {
      stream.socket.resume()
      while (!stream.unread.includes('event: dropped') && !stream.isOver) {
        await new Promise((resolve) => stream.socket.once('data', resolve))
      }
      trial.check(stream.unread.includes('event: dropped'), () => 'a stream has ended')
      stream.close()
    }
    wire.close()
    trial.note(`${READERS} streams; memory ${before} MiB, at most ${held} MiB`)
  },
}
