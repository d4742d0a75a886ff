import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Running } from '../contestants/contestant.js'
import { CONNECTIONS } from './load.js'

/** How long answers took, in milliseconds. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
}

/** Timers are no finer. */
const TICK_MS = 1
/** What is not answered by then never will be. */
const PATIENCE_MS = 30_000

/**
 * So many calls of listPets a second, some each millisecond, whether answers come in time or not: what has to wait for
 * one of the connections is measured with its waiting.
 *
 * Over bare sockets: a client of its own would take as much of the machine as what is measured.
 *
 * @throws Error if it is answered otherwise than with 200, or not in time
 */
export async function steady({ urls, key }: Running, perSecond: number, seconds: number): Promise<Latencies> {
  const url = new URL(urls.listPets)
  const request = `GET ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${key}\r\n\r\n`
  const waiting: number[] = []
  const taken: number[] = []
  const idle: Line[] = []
  const send = (line: Line) => {
    const since = waiting.shift()
    if (since === undefined) idle.push(line)
    else line.ask(request, since)
  }
  const failing = new AbortController()
  const lines = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(Number(url.port), url.hostname).setNoDelay()
      await once(socket, 'connect')
      return new Line(socket, {
        answered(line, since) {
          taken.push(performance.now() - since)
          send(line)
        },
        failed: (error) => failing.abort(error),
      })
    }),
  )
  idle.push(...lines)
  const begun = performance.now()
  const all = Math.round(perSecond * seconds)
  let due = 0
  while (taken.length < all) {
    const now = performance.now()
    failing.signal.throwIfAborted()
    if (now - begun > seconds * 1000 + PATIENCE_MS)
      throw new Error(`${all - taken.length} of ${all} calls of ${url.href} were not answered in time.`)
    for (; due < all && due * 1000 <= (now - begun) * perSecond; due++) waiting.push(now)
    for (let free = Math.min(idle.length, waiting.length); free > 0; free--) {
      const line = idle.shift()
      if (line !== undefined) send(line)
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  for (const line of lines) line.end()
  const sorted = taken.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

interface LineWatcher {
  answered(line: Line, since: number): void
  failed(error: Error): void
}

const HEAD_END = '\r\n\r\n'

/** A connection on which one request is under way at a time. */
class Line {
  readonly #socket: Socket
  #since = 0
  /** Bytes of the answer that are still to come; undefined before its head was read. */
  #missing: number | undefined
  #head = ''

  constructor(socket: Socket, watcher: LineWatcher) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      try {
        if (this.#read(chunk.toString('latin1'))) watcher.answered(this, this.#since)
      } catch (error) {
        watcher.failed(error as Error)
      }
    })
    socket.on('error', (error) => watcher.failed(error))
    socket.on('close', () => watcher.failed(new Error('A connection was closed.')))
  }

  ask(request: string, since: number): void {
    this.#since = since
    this.#missing = undefined
    this.#head = ''
    this.#socket.write(request)
  }

  end(): void {
    this.#socket.removeAllListeners().on('error', () => {})
    this.#socket.destroy()
  }

  /** @returns whether the answer is whole */
  #read(text: string): boolean {
    if (this.#missing !== undefined) this.#missing -= text.length
    else {
      this.#head += text
      const end = this.#head.indexOf(HEAD_END)
      if (end === -1) return false
      if (!this.#head.startsWith('HTTP/1.1 200 ')) throw new Error(`An answer was "${this.#head.slice(0, 200)}".`)
      const length = Number(/^content-length: *(\d+)/im.exec(this.#head.slice(0, end + 2))?.[1])
      if (Number.isNaN(length)) throw new Error('An answer has no Content-Length.')
      this.#missing = length - (this.#head.length - end - HEAD_END.length)
    }
    return this.#missing === 0
  }
}
