import type { DurationMs } from '../../domain/time.js'
import type { CliIo } from '../io.js'
import { overwrite } from '../print.js'

const SHOWN_EVERY_MS: DurationMs = 100
const MB = 1_000_000
const BAR = 24

/** Shows on a terminal how far a reading is; elsewhere nothing. */
export interface Progress {
  /** The same pieces, counted as they are taken. */
  watch(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer>
  /** Clears the line. */
  done(): void
}

/** @param size in bytes, undefined where nobody knows */
export function openProgress(name: string, size: number | undefined, { stderr, monotonic }: CliIo): Progress {
  if (stderr.isTTY !== true) return { watch: (chunks) => chunks, done: () => {} }
  let shownAt = Number.NEGATIVE_INFINITY
  return {
    async *watch(chunks) {
      let read = 0
      for await (const chunk of chunks) {
        read += chunk.length
        if (monotonic() - shownAt >= SHOWN_EVERY_MS) {
          shownAt = monotonic()
          overwrite(stderr, progressLine(name, read, size))
        }
        yield chunk
      }
    },
    done: () => {
      if (shownAt !== Number.NEGATIVE_INFINITY) overwrite(stderr, '')
    },
  }
}

/** `traffic.har ━━━━━━────── 52 %, 640 of 1230 MB` */
function progressLine(name: string, read: number, size: number | undefined): string {
  if (size === undefined || size === 0) return `${name}: ${megabytes(read)} MB`
  const share = Math.min(1, read / size)
  const full = Math.round(share * BAR)
  const bar = '━'.repeat(full) + '─'.repeat(BAR - full)
  return `${name} ${bar} ${Math.floor(share * 100)} %, ${megabytes(read)} of ${megabytes(size)} MB`
}

function megabytes(bytes: number): string {
  return bytes < 10 * MB ? (bytes / MB).toFixed(1) : String(Math.round(bytes / MB))
}
