import type { Contract, Operation } from '../../contract/contract.js'
import { jsonText } from '../colour.js'
import type { CliIo } from '../io.js'
import { lineWidth, table } from '../table.js'
import { yamlText } from './show-response.js'

export async function listOperations(
  { operations }: Contract,
  format: string | undefined,
  { stdout, env }: CliIo,
): Promise<string> {
  if (format === 'json' || format === 'yaml') {
    const views = operations.map(({ id, method, path, deprecated, sunsetAt, stability = 'stable', summary }) => ({
      operation: id,
      method,
      path,
      deprecated,
      ...(sunsetAt === undefined ? {} : { sunset: dayOf(sunsetAt) }),
      stability,
      ...(summary === undefined ? {} : { summary }),
    }))
    return format === 'json' ? await jsonText(views, stdout, env) : yamlText(views)
  }
  const rows = operations.map((operation) => {
    const { id, method, path, deprecated, sunsetAt, stability, summary = '' } = operation
    const removal = sunsetAt === undefined ? '' : `, to be removed on ${dayOf(sunsetAt)}`
    const state = [deprecated ? `deprecated${removal}` : [], stability ?? (deprecated ? [] : 'stable')].flat()
    return [id, `${method} ${path}`, state.join(', '), summary]
  })
  return table(['operation', 'request', 'stability', 'summary'], rows, lineWidth(stdout))
}

export function stabilityWarnings({ id, deprecated, sunsetAt, stability }: Operation): readonly string[] {
  const removal = sunsetAt === undefined ? '' : ` and will be removed on ${dayOf(sunsetAt)}`
  return [
    deprecated ? `${id} is deprecated${removal}.` : [],
    stability === undefined || stability === 'stable' ? [] : `${id} is ${stability}: it may change without notice.`,
  ].flat()
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
