import { parseArgs } from 'node:util'
import { compareRow, type RowResult } from './compare.js'
import { TABLE } from './table.js'

/** `npm run conform-proof`, see test/README.md. Exits with 1 if a cell differs from the table. */
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
  },
})
const wanted = new RegExp(values.clients)
const rows = TABLE.filter(({ name, job = '' }) => wanted.test(`${name} ${job}`))
const left = rows.values()
const seen = new Map<(typeof rows)[number], RowResult>()
const work = async () => {
  for (const row of left) {
    const result = await compareRow(row)
    seen.set(row, result)
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
process.exitCode = differ === 0 ? 0 : 1
