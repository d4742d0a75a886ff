import { readlinkSync } from 'node:fs'
import { checkHealth } from '../../client/control-fetch.js'
import { CONTROL_PATH } from '../../control/path.js'
import { Failure } from '../../domain/failures.js'
import { controlCommand } from '../control/find-sandbox.js'
import type { CliIo } from '../io.js'

const TIMEOUT_MS = 1000

interface Place {
  readonly host: string
  readonly port: number
}

export async function withPortHolder(failure: Failure, { host, port }: Place, io: CliIo): Promise<Failure> {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  const controlUrl = `http://${address}:${port}${CONTROL_PATH}`
  const health = await checkHealth(controlUrl, TIMEOUT_MS)
  if (health.kind !== 'healthy') return failure
  const { pid } = health
  const folder = typeof pid === 'number' ? folderOf(pid) : undefined
  const who = ['petstore-sandbox', ...(typeof pid === 'number' ? [`pid ${pid}`] : []), ...(folder ?? [])].join(', ')
  return new Failure(
    'PORT_IN_USE',
    `Port ${port} of ${host} is in use by ${who}. Stop it with: ${controlCommand(controlUrl, io)} stop; or choose another port with --port, or 0 for any free one.`,
    { cause: failure },
  )
}

/** The working directory of an own process, on Linux. @source proc(5), /proc/pid/cwd */
function folderOf(pid: number): readonly string[] | undefined {
  try {
    return [readlinkSync(`/proc/${pid}/cwd`)]
  } catch {
    return undefined
  }
}
