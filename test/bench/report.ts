import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { packageDirectory } from '../../src/system/package-files.js'
import type { Contestant, Operation } from './contestants.js'
import { FULL, OPERATIONS, type Results, ratio, type Throughput } from './measures.js'
import { count, ratiosOf, type Spread, spreadOf } from './statistics.js'

/** Under which a run was made. */
interface Circumstances {
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
      'json-server returns 20 pets, Prism the two of the contract’s example, Scalar one of its own:',
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
    ...(isFull ? [] : ['**A quick run: its figures mean nothing.**']),
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

/** A limit, and the measured figure. */
interface Budget {
  readonly what: string
  readonly must: { readonly atLeast: number } | { readonly atMost: number }
  /** The goal, if it is not reached yet. */
  readonly goal?: number
  readonly unit: '' | 'ms' | 's' | 'MB'
  readonly figure: Spread
}

/** The budgets of this project, each with the figure of this run. The median decides. */
function budgetsOf(results: Results): readonly Budget[] {
  const { lineUp, extent, throughput, starts, inProcess, perTest, opening, memoryGrowth } = results
  const { bare, few, many, fewInMemory, manyInMemory, withoutStore } = lineUp
  const [fewPets, , manyPets] = extent.pets
  const [fewRequests, manyRequests] = extent.requests
  const once = (figure: number): Spread => ({ median: figure, low: figure, high: figure })
  return [
    ...OPERATIONS.map((operation): Budget => {
      const figure = ratio(throughput[operation], few, bare)
      return { what: `${nameOf(operation)} to bare node:http`, ...TO_BARE[operation], unit: '', figure }
    }),
    ...OPERATIONS.map((operation): Budget => {
      const figure = ratio(throughput[operation], many, few)
      const what = `${nameOf(operation)} with ${count(manyPets)} pets to ${count(fewPets)}`
      return { what, must: { atLeast: 0.9 }, unit: '', figure }
    }),
    {
      what: `createPet in memory with ${count(manyPets)} pets to ${count(fewPets)}`,
      must: { atLeast: 0.9 },
      unit: '',
      figure: ratio(throughput.createPet, manyInMemory, fewInMemory),
    },
    ...[withoutStore, few, fewInMemory].map((contestant, index): Budget => {
      const how = ['no store yet', 'a store', 'in memory'][index]
      const what = `\`serve\` to its first 200, ${how}, to a bare script's`
      return { what, must: { atMost: 1.6 }, goal: 1.45, unit: '', figure: ratio(starts, contestant, bare) }
    }),
    { what: 'startSandbox() in a warm process', must: { atMost: 1 }, unit: 'ms', figure: spreadOf(inProcess.start) },
    { what: 'reset()', must: { atMost: 0.2 }, unit: 'ms', figure: spreadOf(inProcess.reset) },
    { what: "a new space's first response", must: { atMost: 1.5 }, unit: 'ms', figure: spreadOf(inProcess.newSpace) },
    {
      what: `the sandbox of a Vitest test (MSW, use and resetHandlers: ${spread(spreadOf(perTest.handlers))} ms)`,
      must: { atMost: 1 },
      unit: 'ms',
      figure: spreadOf(perTest.fixture),
    },
    ...inProcess.copies.map(({ pets, atMost, times }): Budget => {
      return {
        what: `a copy of a space with ${count(pets)} pets`,
        must: { atMost },
        unit: 'ms',
        figure: spreadOf(times),
      }
    }),
    {
      what: `opening a store of ${count(manyPets)} pets`,
      must: { atMost: 1.5 },
      unit: 's',
      figure: spreadOf(opening.seconds),
    },
    { what: 'memory then', must: { atMost: 300 }, unit: 'MB', figure: spreadOf(opening.megabytes) },
    {
      what: `memory after ${count(manyRequests)} requests to after ${count(fewRequests)}`,
      must: { atMost: 1.2 },
      unit: '',
      figure: once(memoryGrowth.afterMany / memoryGrowth.afterFew),
    },
  ]
}

const TO_BARE = {
  listPets: { must: { atLeast: 0.9 }, goal: 1 },
  getPet: { must: { atLeast: 1 } },
  createPet: { must: { atLeast: 0.8 } },
} as const satisfies Record<Operation, Pick<Budget, 'must' | 'goal'>>

function isMet({ must, figure: { median } }: Budget): boolean {
  return 'atLeast' in must ? median >= must.atLeast : median <= must.atMost
}

function nameOf(operation: string): string {
  return operation === 'createPet' ? 'createPet, written,' : operation
}

/** A table whose first column is text and whose others are figures. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

/** Three digits that mean something, `0.82`, `4.13`, `52.3`, `1,230`. */
function digits(figure: number): string {
  if (figure >= 100) return count(figure)
  return figure >= 10 ? figure.toFixed(1) : figure.toFixed(2)
}

/** The median, and between what the figures lay: `0.82 (0.79–0.85)`. */
function spread({ median, low, high }: Spread): string {
  return low === high ? digits(median) : `${digits(median)} (${digits(low)}–${digits(high)})`
}

const DOCUMENT = 'docs/benchmarks.md'

/** Puts a report into the document, in place of the last one. @param bench the script that made it */
export function writeSection(bench: 'bench' | 'bench:replicas', report: string): void {
  const file = join(packageDirectory, DOCUMENT)
  const text = readFileSync(file, 'utf8')
  const marks = { begin: `<!-- ${bench}: begin -->`, end: `<!-- ${bench}: end -->` }
  const [begin, end] = [text.indexOf(marks.begin), text.indexOf(marks.end)]
  if (begin === -1 || end < begin)
    throw new Error(`${DOCUMENT} has no place between "${marks.begin}" and "${marks.end}".`)
  writeFileSync(file, `${text.slice(0, begin + marks.begin.length)}\n${report}\n${text.slice(end)}`)
}
