import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { compareRow } from './compare.js'
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
const seen = new Map<(typeof rows)[number], Awaited<ReturnType<typeof compareRow>>>()
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
const all = rows.map((row) => seen.get(row))
const differing = all.reduce((sum, one) => sum + (one?.differences.length ?? 0), 0)
process.stdout.write(`${rows.length} clients, ${differing} cells differ\n`)
if (values.out !== undefined) writeFileSync(values.out, all.map((one) => `${one?.letters}\n`).join(''))
process.exitCode = differing === 0 ? 0 : 1
