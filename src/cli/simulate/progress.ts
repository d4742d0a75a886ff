import type { DurationMs } from '../../domain/time.js'
import type { CliIo } from '../io.js'
import { overwrite } from '../print.js'

const UPDATE_INTERVAL_MS: DurationMs = 100
const MB = 1_000_000

export function openProgress(name: string, size: number | undefined, { stderr, monotonic }: CliIo) {
  let read = 0
  let shownAt: number | undefined
  const show = () => {
    const total = size ? ` of ${megabytes(size)} MB, ${Math.floor(Math.min(1, read / size) * 100)} %` : ' MB'
    shownAt = monotonic()
    overwrite(stderr, `${name}: ${megabytes(read)}${total}`)
  }
  return {
    async *watch(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        read += chunk.length
        if (stderr.isTTY === true && monotonic() - (shownAt ?? -UPDATE_INTERVAL_MS) >= UPDATE_INTERVAL_MS) show()
        yield chunk
      }
    },
    clear: () => shownAt !== undefined && overwrite(stderr, ''),
  }
}

function megabytes(bytes: number): string {
  return bytes < 10 * MB ? (bytes / MB).toFixed(1) : String(Math.round(bytes / MB))
}
