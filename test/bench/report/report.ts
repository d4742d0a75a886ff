import { cpus } from 'node:os'
import { type Budget, budgetsOf, isMet } from '../budgets.js'
import type { Contestant, Operation } from '../contestants/contestant.js'
import { FULL } from '../extent.js'
import type { Throughput } from '../measures/throughput.js'
import { OPERATIONS, type Results, ratio } from '../results.js'
import { ratiosOf, spreadOf } from '../statistics.js'
import { count, digits, spread, table } from './markdown.js'

/** Under which a run was made. */
export interface Circumstances {
  readonly now: Date
  /** The program that asked. */
  readonly load: string
  /** What share of the processors others used just before the run. */
  readonly busy: number
}

/** A share that one who measures should not find. */
const BUSY = 0.1

/** A run as Markdown: the budgets, the others, growth. */
export function report(results: Results, { now, load, busy }: Circumstances): string {
  const { extent } = results
  return [
    `${now.toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ` +
      `Node ${process.versions.node}, ${load} with 32 connections; medians of ${extent.rounds.listPets} rounds in turn, of createPet ` +
      `${extent.rounds.createPet}, of growth ${extent.growthRounds}, of the peers ${extent.longRounds} (lowest–highest), ratios of figures of the same round. ${caveats(extent === FULL, busy)}`.trim(),
    table(['Budget', 'must be', 'was', 'met'], budgetsOf(results).map(budgetRow)),
    'Requests per second, and what part of bare node:http’s they are. The sandbox checks the key, counts, ' +
      'logs and puts all headers on; a 201 is sent when the pet is in the journal. The bare server sends the same bytes. ' +
      'json-server answers 20 pets, Prism the two of the contract’s example, Scalar’s one of its own:',
    throughputTable(results),
    'Start and memory:',
    startTable(results),
    'Growth: the same store of pets, but for one thing, and what part of its requests per second is left:',
    growthTable(results),
    callLine(results),
  ].join('\n\n')
}

function caveats(isFull: boolean, busy: number): string {
  return [
    ...(isFull ? [] : ['**A quick run: its figures are no good.**']),
    ...(busy < BUSY
      ? []
      : [`**The machine was busy with other work (${Math.round(busy * 100)} % of its processors): measure again.**`]),
  ].join(' ')
}

function budgetRow(budget: Budget): readonly string[] {
  const { what, must, goal, unit, figure } = budget
  const suffix = unit === '' ? '' : ` ${unit}`
  const limit = 'atLeast' in must ? `≥ ${digits(must.atLeast)}` : `≤ ${digits(must.atMost)}`
  const wanted = goal === undefined ? '' : ` (goal ${digits(goal)}${suffix})`
  return [what, limit + suffix + wanted, spread(figure) + suffix, isMet(budget) ? 'yes' : '**no**']
}

function throughputTable({ throughput, lineUp }: Results): string {
  const { bare, few, more, many, fewInMemory, moreInMemory, manyInMemory, peers } = lineUp
  const rows = [bare, few, more, many, fewInMemory, moreInMemory, manyInMemory, ...peers]
  return operationsTable(throughput, rows, bare)
}

function growthTable({ growth, lineUp }: Results): string {
  const { few, emptyLog, besideSpaces, inSpace } = lineUp
  return operationsTable(growth, [few, emptyLog, besideSpaces, inSpace], few)
}

function operationsTable(
  figures: Readonly<Partial<Record<Operation, Throughput>>>,
  rows: readonly Contestant[],
  base: Contestant,
): string {
  const cell = (contestant: Contestant, operation: Operation) => {
    const all = figures[operation]
    const taken = all?.get(contestant)
    if (all === undefined || taken === undefined) return ''
    const perSecond = count(spreadOf(taken).median)
    return contestant === base ? perSecond : `${perSecond} · ${spread(ratio(all, contestant, base))}`
  }
  const operations = OPERATIONS.filter((operation) => figures[operation] !== undefined)
  return table(
    ['', ...operations],
    rows.map((contestant) => [contestant.name, ...operations.map((operation) => cell(contestant, operation))]),
  )
}

function startTable({ starts, peerStarts, opening, memory, memoryGrowth, lineUp, extent }: Results): string {
  const { bare, few, many, withoutStore, fewInMemory, besideSpaces, peers } = lineUp
  const megabytes = (contestant: Contestant) =>
    memory.has(contestant) ? `${count(memory.get(contestant) ?? 0)} MB` : ''
  const [fewRequests, manyRequests] = extent.requests
  const row = (contestant: Contestant, times: Results['starts'], after = '') => [
    contestant.name,
    `${digits(spreadOf(times.get(contestant) ?? []).median)} ms`,
    contestant === bare ? '' : spread(ratio(times, contestant, bare)),
    megabytes(contestant),
    after,
  ]
  return table(
    ['', 'start to first 200', 'to bare', `after ${count(fewRequests)} requests`, `after ${count(manyRequests)}`],
    [
      row(bare, starts),
      row(few, starts, `${count(memoryGrowth.afterMany)} MB`),
      row(withoutStore, starts),
      row(fewInMemory, starts),
      [many.name, `${digits(spreadOf(opening.seconds).median * 1_000)} ms`, '', megabytes(many), ''],
      [besideSpaces.name, '', '', megabytes(besideSpaces), ''],
      ...peers.map((peer) => row(peer, peerStarts)),
    ],
  )
}

function callLine({ call }: Results): string {
  const [ours, script] = [spreadOf(call.call), spreadOf(call.script)]
  const times = spread(ratiosOf(call.call, call.script))
  return `\`call listPets\` takes ${digits(ours.median)} ms, a script with one bare \`fetch\` ${digits(script.median)} ms: ${times} times that.`
}
