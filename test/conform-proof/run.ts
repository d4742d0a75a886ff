import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { compareRow, type RowResult } from './compare.js'
import { TABLE } from './table.js'

/** `npm run conform-proof`, see test/README.md. Exits with 1 if a cell differs from the table. */
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
})
const wanted = new RegExp(values.clients)
const rows = TABLE.filter(({ name, job = '' }) => wanted.test(`${name} ${job}`))
const left = rows.values()
const loads: number[] = []
const seen = new Map<(typeof rows)[number], RowResult>()
const work = async () => {
  for (const row of left) {
    const result = await compareRow(row)
    seen.set(row, result)
    loads.push(loadavg()[0] ?? 0)
    process.stdout.write(
      `${result.differences.length === 0 ? 'equal ' : 'DIFFER'} ${row.job ?? '      '} ${result.letters}  ${row.name}\n`,
    )
    for (const difference of result.differences) process.stdout.write(`         ${difference}\n`)
  }
}
await Promise.all(Array.from({ length: Number(values.jobs) }, work))
const all = rows.flatMap((row) => seen.get(row) ?? [])
const sum = (count: (result: RowResult) => number) => all.reduce((total, one) => total + count(one), 0)
const [cells, undecided, differ] = [
  sum((one) => one.cells),
  sum((one) => one.undecided),
  sum((one) => one.differences.length),
]
process.stdout.write(
  `${rows.length} clients, ${cells} cells: ${cells - undecided - differ} equal, ${undecided} undecided, ${differ} differ\n`,
)
if (values.out !== undefined) writeFileSync(values.out, all.map(({ letters }) => `${letters}\n`).join(''))
const [least, most] = [Math.min(...loads), Math.max(...loads)].map((load) => load.toFixed(1))
process.stdout.write(`load average ${least} to ${most}\n`)
process.exitCode = differ === 0 ? 0 : 1
