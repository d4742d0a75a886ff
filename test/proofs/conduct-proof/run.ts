import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readSegments, requestsTo, type Segment, type Wired } from './capture.js'
import { MODES, type Mode, type Ran, Slot } from './cells.js'
import { CLIENTS, type Client } from './clients.js'
import { CONDITIONS } from './conditions.js'
import { compare, judge } from './judge.js'

/** `npm run conduct-proof`, see test/README.md. Exits with 1 if conduct accused a polite client, or missed a violation. */
const JOBS = 6

/** Up to a minute: clients that were judged wrongly before. */
const SHORT = {
  clients:
    '^(curl; curl|curl loop|python (urllib rude|http.client-new|half-closed|pipelined|never)|node (fetch rude|fetch polite|http-no-agent (rude|burst)|undici-4 workers|fetch ended|fetch twice)|4 workers)',
  // No 503: a busy machine delays retries by more than 100 ms.
  conditions: 'storm,503-retry-after',
  modes: 'exec',
  loads: 'idle',
}
const LONG = { clients: '', conditions: Object.keys(CONDITIONS).join(), modes: MODES.join(), loads: 'idle,busy' }

// A network namespace keeps other traffic out of the capture.
const INSIDE = 'CONDUCT_PROOF_INSIDE'
if (process.env[INSIDE] === undefined) {
  const { status } = spawnSync('unshare', ['-n', process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  })
  process.exit(status ?? 1)
}
execFileSync('ip', ['link', 'set', 'lo', 'up'])

const preset = process.argv.includes('--short') ? SHORT : LONG
const { values } = parseArgs({
  options: {
    short: { type: 'boolean' },
    clients: { type: 'string', default: preset.clients },
    conditions: { type: 'string', default: preset.conditions },
    modes: { type: 'string', default: preset.modes },
  },
})
interface Cell {
  readonly client: Client
  readonly condition: string
  readonly mode: Mode
  readonly load: string
}

const matching = new RegExp(values.clients)
const clients = CLIENTS.filter(({ name }) => matching.test(name))
const COLUMNS = ['cells', 'refused', 'early', 'FALSE', 'MISSED', 'other'] as const
const rows = new Map<string, Record<(typeof COLUMNS)[number], number>>()
const mismatches: string[] = []
const folder = mkdtempSync(join(tmpdir(), 'conduct-proof-'))

for (const load of preset.loads.split(',')) {
  // They end with this process, however it ends.
  const spinning = ['-e', 'for (const parent = process.ppid; process.ppid === parent; );']
  const spinners = Array.from({ length: load === 'busy' ? availableParallelism() : 0 }, () =>
    spawn(process.execPath, spinning, { stdio: 'ignore' }),
  )
  for (const mode of values.modes.split(',') as Mode[])
    for (const condition of values.conditions.split(',')) {
      const those = clients.filter(({ only }) => only === undefined || only === condition)
      const cells = those.map((client) => ({ client, condition, mode, load }))
      await runAll(cells, `${load}, ${mode}, ${condition}`)
    }
  for (const spinner of spinners) spinner.kill('SIGKILL')
}

const lineOf = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |\n`
process.stdout.write(lineOf(['load, mode, condition', ...COLUMNS]) + lineOf(['---', ...COLUMNS.map(() => '--:')]))
for (const [name, row] of rows) process.stdout.write(lineOf([name, ...COLUMNS.map((column) => row[column])]))
process.stdout.write(`\n${mismatches.length} cells differ\n${mismatches.join('')}`)
process.exitCode = [...rows.values()].some((row) => row.FALSE + row.MISSED > 0) ? 1 : 0

async function runAll(cells: readonly Cell[], name: string): Promise<void> {
  const file = join(folder, `${name}.pcap`)
  const options = ['-i', 'lo', '--immediate-mode', '-U', '-B', '65536', '-s', '0', '-w', file, 'tcp']
  const witness = spawn('tcpdump', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  await once(witness.stderr, 'data')
  const startedAt = Date.now()
  const ran: { readonly cell: Cell; readonly ran: Ran }[] = []
  const left = cells.values()
  const work = async () => {
    const slot = new Slot()
    for (const cell of left)
      await slot.run(cell.client, cell.condition, cell.mode).then(
        (each) => ran.push({ cell, ran: each }),
        (error) => process.stderr.write(`${cell.client.name}, ${name}: ${error}\n`),
      )
    await slot.close()
  }
  await Promise.all(Array.from({ length: JOBS }, work))
  // tcpdump may not have written the last packets; a cell whose requests are not all in the capture is not judged.
  await setTimeout(500)
  witness.kill('SIGINT')
  await once(witness, 'close')
  const segments = readSegments(file)
  for (const each of ran) judgeCell(each.cell, each.ran, segments)
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0)
  process.stderr.write(`${name}: ${ran.length} of ${cells.length} cells in ${seconds} s\n`)
}

function judgeCell({ client, condition, mode, load }: Cell, ran: Ran, all: readonly Segment[]): void {
  const { port, firstId, startedAt, endedAt, said, stderr } = ran
  const wired = requestsTo(
    port,
    all.filter(({ at }) => at >= startedAt && at <= endedAt),
  )
  const truth = judge(wired)
  const differences =
    truth.requests === 0 || truth.requests < said.requests
      ? [`HARNESS: not judged, ${truth.requests} of ${said.requests} requests in the capture`]
      : compare(truth, said, {
          firstId,
          isCounted: client.isNamed === true || (client.senders ?? 1) > 1,
          isBackingOff: client.isBackingOff === true,
        })
  if (client.isPolite && truth.early.length > 0) differences.unshift(`HARNESS: polite, but early: ${truth.early}`)
  const name = `${load}, ${mode}, ${condition}`
  const row = rows.get(name) ?? { cells: 0, refused: 0, early: 0, FALSE: 0, MISSED: 0, other: 0 }
  rows.set(name, row)
  const has = (word: string) => differences.some((each) => each.startsWith(word))
  row.cells++
  if (truth.refused > 0) row.refused++
  if (truth.early.length > 0 || truth.atOnce.least > 3) row.early++
  if (has('FALSE')) row.FALSE++
  else if (has('MISSED') || has('LATE')) row.MISSED++
  else if (differences.length > 0) row.other++
  const found = [...said.violations, ...said.warnings].map(
    ({ rule, count, exchanges }) => `${rule} ${count} (${exchanges.map((id) => id - firstId + 1)})`,
  )
  if (differences.length === 0) return
  const traces = wired.map((each) => `\n  ${traceOf(each, wired[0]?.sentAt ?? 0)}`).join('')
  mismatches.push(
    `- ${client.name} | ${name}: ${differences.join('; ')}. Requests ${truth.requests}, early ${truth.early.join() || 'none'}, at once ${truth.atOnce.least}; said ${found.join(', ') || 'nothing'}${traces}${stderr}\n`,
  )
}

/** When a request was sent, and when its response was delivered, in milliseconds. */
function traceOf({ sentAt, method, target, response, brokenAt }: Wired, begin: number): string {
  const since = (at: number) => (at - begin).toFixed(1)
  const broken = brokenAt === undefined ? 'none' : `broken ${since(brokenAt)}`
  const retryAfter = response?.headers.get('retry-after') ?? ''
  const end = response && `${response.status} ${since(response.deliveredAt)} ${response.isDelivered} ${retryAfter}`
  return `${since(sentAt)} ${method} ${target} ${end ?? broken}`
}
