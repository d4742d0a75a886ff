import { readlinkSync } from 'node:fs'
import { readLocation } from '../../client/location.js'
import { askHealth } from '../../client/sandbox-health.js'
import { CONTROL_PATH } from '../../control/path.js'
import { Failure } from '../../domain/failures.js'

/** Longer would keep somebody waiting for what is only a help. */
const PATIENCE_MS = 1000

/** Where a port is, and who asks. */
interface Place {
  readonly host: string
  readonly port: number
  readonly cwd: string
}

/** Says of a taken port who has it, if that is a sandbox; of another program only that it is taken. */
export async function namingHolder(failure: Failure, { host, port, cwd }: Place): Promise<Failure> {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  const controlUrl = `http://${address}:${port}${CONTROL_PATH}`
  const health = await askHealth(controlUrl, PATIENCE_MS)
  if (health.kind !== 'healthy') return failure
  const { pid } = health
  const folder = typeof pid === 'number' ? folderOf(pid) : undefined
  const who = ['petstore-sandbox', ...(typeof pid === 'number' ? [`pid ${pid}`] : []), ...(folder ?? [])].join(', ')
  // What `control` finds by itself from here.
  const found = readLocation(cwd)?.controlUrl ?? `http://127.0.0.1:4010${CONTROL_PATH}`
  const url = found === controlUrl ? '' : ` --url http://${address}:${port}`
  return new Failure(
    'PORT_IN_USE',
    `${host}:${port} is taken by ${who}. Stop it with: petstore-sandbox control${url} stop; or choose another port with --port, or 0 for any free one.`,
    { cause: failure },
  )
}

/** Where a process was started. @source proc(5), /proc/pid/cwd: there only on Linux, and for processes of one's own */
function folderOf(pid: number): readonly string[] | undefined {
  try {
    return [readlinkSync(`/proc/${pid}/cwd`)]
  } catch {
    return undefined
  }
}
