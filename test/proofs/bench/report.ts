import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'
import type { Contestant, Operation } from './contestants.js'
import { type Figures, FULL, OPERATIONS, type Results, ratio } from './measures.js'
import { count, ratiosOf, type Spread, spreadOf } from './statistics.js'

/** A share of the processors that one who measures should not find used by others. */
const BUSY = 0.1

/** A run as Markdown. */
export interface Report {
  /** Of docs/benchmarks.md: the budgets, and the others. */
  readonly page: string
  /** For whoever runs it: also the sizes of stores, memory and growth. */
  readonly rest: string
}

/** @param load the program that asked */
export function report(results: Results, load: string, busy: number): Report {
  const { extent, throughput, growth, lineUp } = results
  const { bare, few, more, many, fewInMemory, moreInMemory, manyInMemory, peers } = lineUp
  const { emptyLog, besideSpaces, inSpace } = lineUp
  const quick = extent === FULL ? '' : ' **A quick run: its figures mean nothing.**'
  const share = `${Math.round(busy * 100)} % of its processors`
  const disturbed = busy < BUSY ? '' : ` **The machine was busy with other work (${share}): measure again.**`
  const page = [
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ` +
      `Node ${process.versions.node}, ${load} with 32 connections; medians of ${extent.rounds.listPets} rounds in turn, of createPet ` +
      `${extent.rounds.createPet}, of growth ${extent.growthRounds}, of the peers ${extent.longRounds} (lowest–highest), ratios of figures of the same round.${quick}${disturbed}`,
    table(['Budget', 'must be', 'was'], budgetRows(results)),
    'Requests per second, and their ratio to bare node:http, which sends the same bytes. json-server returns 20 pets, ' +
      'Prism two, Scalar one:',
    operationsTable(throughput, [bare, few, ...peers]),
  ].join('\n\n')
  const rest = [
    'Other stores:',
    operationsTable(throughput, [bare, few, more, many, fewInMemory, moreInMemory, manyInMemory]),
    'Start and memory:',
    startTable(results),
    'Growth: the same sandbox with one change, and the ratio to it:',
    operationsTable(growth, [few, emptyLog, besideSpaces, inSpace]),
    callLine(results),
  ].join('\n\n')
  return { page, rest }
}

/** @param rows the others are held against the first */
function operationsTable(figures: Partial<Record<Operation, Figures>>, rows: readonly Contestant[]): string {
  const [base] = rows
  const operations = OPERATIONS.filter((operation) => figures[operation] !== undefined)
  const cell = (contestant: Contestant, all: Figures = new Map()) => {
    const taken = all.get(contestant)
    if (base === undefined || taken === undefined) return ''
    const perSecond = count(spreadOf(taken).median)
    return contestant === base ? perSecond : `${perSecond} · ${digits(ratio(all, contestant, base).median)}`
  }
  const cells = rows.map((one) => [one.name, ...operations.map((operation) => cell(one, figures[operation]))])
  return table(['', ...operations], cells)
}

function startTable({ starts, peerStarts, opening, memory, memoryGrowth, lineUp, extent }: Results): string {
  const { bare, few, many, withoutStore, fewInMemory, besideSpaces, peers } = lineUp
  const megabytes = (contestant: Contestant) =>
    memory.has(contestant) ? `${count(memory.get(contestant) ?? 0)} MB` : ''
  const row = (contestant: Contestant, times: Figures, after = '') => [
    contestant.name,
    `${digits(spreadOf(times.get(contestant) ?? []).median)} ms`,
    contestant === bare ? '' : spread(ratio(times, contestant, bare)),
    megabytes(contestant),
    after,
  ]
  const { fewRequests, manyRequests } = extent
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

const MAX_START_RATIO = 1.6

/** The budgets of this project, each with the figure of this run. The median decides. */
function budgetRows(results: Results): readonly (readonly string[])[] {
  const { lineUp, extent, throughput, starts, inProcess, perTest, opening, memoryGrowth, bareMemoryGrowth } = results
  const { bare, few, fewInMemory, withoutStore } = lineUp
  const row = (what: string, limit: string, figure: Spread, isMet: boolean, unit: string) => {
    const suffix = unit === '' ? '' : ` ${unit}`
    return [what, limit + suffix, spread(figure) + suffix + (isMet ? '' : ' **not met**')]
  }
  const atLeast = (what: string, least: number, figure: Spread) =>
    row(what, `≥ ${digits(least)}`, figure, figure.median >= least, '')
  const atMost = (what: string, most: number, figure: Spread, unit = '') =>
    row(what, `≤ ${digits(most)}`, figure, figure.median <= most, unit)
  const { listPets, getPet, createPet } = throughput
  const growthOf = (memory: Results['memoryGrowth']) => memory.afterMany / memory.afterFew
  const growth = growthOf(memoryGrowth)
  const bareGrowth = digits(growthOf(bareMemoryGrowth))
  const handlers = `MSW, use and resetHandlers: ${spread(spreadOf(perTest.handlers))} ms`
  return [
    atLeast('listPets to bare node:http', 1, ratio(listPets, few, bare)),
    atLeast('getPet to bare node:http', 0.9, ratio(getPet, few, bare)),
    atLeast('createPet, written, to bare node:http', 0.65, ratio(createPet, few, bare)),
    ...[withoutStore, few, fewInMemory].map((contestant, index) => {
      const how = ['no store yet', 'a store', 'in memory'][index]
      const what = `\`serve\` to its first 200, ${how}, to a bare script's`
      return atMost(what, MAX_START_RATIO, ratio(starts, contestant, bare))
    }),
    atMost('startSandbox() in a warm process', 1, spreadOf(inProcess.start), 'ms'),
    atMost('reset()', 0.2, spreadOf(inProcess.reset), 'ms'),
    atMost("a new space's first response", 1.5, spreadOf(inProcess.newSpace), 'ms'),
    atMost(`the sandbox of a Vitest test (${handlers})`, 1, spreadOf(perTest.fixture), 'ms'),
    ...inProcess.copies.map((copy) =>
      atMost(`a copy of a space with ${count(copy.pets)} pets`, copy.atMost, spreadOf(copy.times), 'ms'),
    ),
    atMost(`opening a store of ${count(extent.many)} pets`, 3, spreadOf(opening.seconds), 's'),
    atMost(
      `memory after ${count(extent.manyRequests)} requests to after ${count(extent.fewRequests)} (bare node:http: ${bareGrowth})`,
      1.2,
      spreadOf([growth]),
    ),
  ]
}

/** A table whose first column is text and whose others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
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

/** Prints a report, and puts it into docs/benchmarks.md in place of the last one, if asked to. */
export function publish({ page, rest }: Report, writesDocs: boolean): void {
  process.stdout.write(`${page}\n\n${rest}\n`)
  if (!writesDocs) return
  const file = join(packageDirectory, 'docs/benchmarks.md')
  const parts = /(<!-- bench: begin -->\n).*(\n<!-- bench: end -->)/s
  const before = readFileSync(file, 'utf8')
  if (!parts.test(before)) throw new Error('docs/benchmarks.md has no place for the report.')
  writeFileSync(
    file,
    before.replace(parts, (_whole, begin, end) => begin + page + end),
  )
}
