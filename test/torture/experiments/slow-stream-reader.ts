import type { Experiment } from '../trial.js'
import { request, statusOf, Wire } from '../wire.js'

const READERS = 5
const IN_A_ROW = 100
const MOST_MIB = 400

/** Streams of exchanges that nobody reads, while there are many exchanges with large bodies. */
export const slowStreamReader: Experiment = {
  counts: 'requests beside streams that nobody reads',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', '--no-rate-limit'])
    const before = server.memory()
    const streams = await Promise.all(Array.from({ length: READERS }, () => Wire.open(server.port)))
    for (const stream of streams) {
      stream.send(request('GET', '/__sandbox/requests/stream'))
      // Until it is followed, nothing can pile up.
      while (!stream.unread.includes(': connected')) await new Promise((resolve) => stream.socket.once('data', resolve))
      stream.socket.pause()
    }
    const wire = await Wire.open(server.port)
    const many = Buffer.concat(Array.from({ length: IN_A_ROW }, () => request('GET', '/v1/pets?limit=100')))
    for (let sent = 0; sent < trial.size(15_000, 2000); sent += IN_A_ROW) {
      wire.send(many)
      for (let i = 0; i < IN_A_ROW; i++) {
        const status = statusOf(await wire.answer())
        trial.check(status === 200, () => `beside a stream that nobody reads: ${status}`)
      }
    }
    const held = server.peakMemory()
    if (held > MOST_MIB) trial.lose(`it held ${held} MiB for streams that nobody read`)
    // Who reads on is told how much it has missed.
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
