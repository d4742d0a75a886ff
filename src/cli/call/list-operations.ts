import type { Contract, Operation } from '../../contract/contract.js'
import { lineWidth, table } from '../control/table.js'
import type { CliIo } from '../io.js'
import { jsonText } from '../json-text.js'
import { yamlText } from './yaml-text.js'

const HEAD = ['operation', 'request', 'stability', 'summary'] as const

/** Every operation of the contract: a table for people, unless it is wanted otherwise. */
export async function listOperations(
  contract: Contract,
  format: string | undefined,
  { stdout, env }: CliIo,
): Promise<string> {
  if (format === 'json') return await jsonText(contract.operations.map(viewOf), stdout, env)
  if (format === 'yaml') return yamlText(contract.operations.map(viewOf))
  return operationTable(contract, lineWidth(stdout))
}

function operationTable({ operations }: Contract, width: number): string {
  return table(
    HEAD,
    operations.map((operation) => [
      operation.id,
      `${operation.method} ${operation.path}`,
      stabilityOf(operation),
      operation.summary ?? '',
    ]),
    width,
  )
}

/** An operation, for programs. */
function viewOf({ id, method, path, deprecated, sunsetAt, stability, summary }: Operation): object {
  return {
    operation: id,
    method,
    path,
    deprecated,
    ...(sunsetAt === undefined ? {} : { sunset: dayOf(sunsetAt) }),
    stability: stability ?? 'stable',
    ...(summary === undefined ? {} : { summary }),
  }
}

/** Warnings about an operation's future, one sentence each. */
export function stabilityWarnings({ id, deprecated, sunsetAt, stability }: Operation): readonly string[] {
  const removal = sunsetAt === undefined ? '' : ` and will be removed on ${dayOf(sunsetAt)}`
  return [
    deprecated ? `${id} is deprecated${removal}.` : [],
    stability === undefined || stability === 'stable' ? [] : `${id} is ${stability}: it may change without notice.`,
  ].flat()
}

function stabilityOf({ deprecated, sunsetAt, stability }: Operation): string {
  const removal = sunsetAt === undefined ? '' : `, to be removed on ${dayOf(sunsetAt)}`
  return [deprecated ? `deprecated${removal}` : [], stability ?? (deprecated ? [] : 'stable')].flat().join(', ')
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
