import { onTestFinished } from 'vitest'
import { createFetch } from '../../src/http/fetch-adapter.js'
import type { SandboxOptions } from '../../src/options/options.js'
import type { CommandLog } from '../../src/replication/command-log.js'
import { openSandboxCore, type SandboxCore } from '../../src/start/compose.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { type MemoryLine, MemoryLog } from '../support/memory-log.js'

export interface TestReplica {
  readonly core: SandboxCore
  /** Its connection to the log, which can be cut. */
  readonly line: MemoryLine
  readonly warnings: readonly string[]
  get(path: string, key?: string): Promise<Response>
  post(body: unknown, key?: string): Promise<Response>
}

/** Replicas with a log in memory and a manual clock. */
export function groupOfReplicas() {
  const time = { now: Date.parse('2026-03-01T10:00:00Z') }
  const log = new MemoryLog(() => time.now)
  return {
    log,
    time,
    /** @param seenAs wraps the log of this replica */
    async replica(
      options: SandboxOptions = {},
      seenAs: (line: MemoryLine) => CommandLog = (line) => line,
    ): Promise<TestReplica> {
      const warnings: string[] = []
      const lines: MemoryLine[] = []
      const openLog = async (): Promise<CommandLog> => {
        const line = log.open()
        lines.push(line)
        return seenAs(line)
      }
      const core = await openSandboxCore(
        embeddedOptions({ redis: 'redis://a-log-in-memory', seed: 1, ...options }),
        { onWarning: (message) => warnings.push(message) },
        undefined,
        { openLog },
      )
      onTestFinished(() => core.close())
      await core.begin('')
      const service = createFetch(core, core.controlTarget.stopping)
      const [line] = lines
      if (line === undefined) throw new Error('The log was not opened.')
      return {
        core,
        line,
        warnings,
        get: (path, key = 'sandbox') =>
          service(new Request(`http://localhost/v1${path}`, { headers: { authorization: `Bearer ${key}` } })),
        post: (body, key = 'sandbox') =>
          service(
            new Request('http://localhost/v1/pets', {
              method: 'POST',
              headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            }),
          ),
      }
    },
  }
}
