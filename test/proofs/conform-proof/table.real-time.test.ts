import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { LOSSES } from '../../support/losses.js'
import { unlessStalled } from '../../support/stalls.js'
import { compareRow, runConform } from './compare.js'
import { EXAMPLES, example } from './examples.js'
import { TABLE } from './table.js'

// For all tests: concurrent ones cannot clean up on their own.
const folder = mkdtempSync(join(tmpdir(), 'conform-proof-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The others take minutes: `npm run conform-proof`. */
const SCENARIOS = [
  'unauthorized',
  'retry-after-seconds',
  'connection-reset',
  'lost-response',
  'int64',
  'unknown-fields',
  'enum-growth',
]
const CLIENTS = [
  /^fetch .*"attempts":5,"writes":"all"}$/,
  /^fetch .*"strict"/,
  /^axios {"retry":{}}$/,
  /^curl --retry 3$/,
]

it.concurrent.each(EXAMPLES)('%s of docs/conform.md passes every scenario', async (file, program) => {
  writeFileSync(join(folder, file), example(file))
  await unlessStalled(async () => {
    const scenarios = await runConform([], `${program} '${join(folder, file)}'`)
    expect(scenarios.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
  })
})

describe.concurrent('the table of clients', () => {
  it.each(CLIENTS.map((name) => TABLE.find((row) => name.test(row.name))))('has the outcomes of $name', async (row) => {
    await unlessStalled(async () => expect(row && (await compareRow(row, SCENARIOS)).differences).toEqual([]))
  })
})

describe.concurrent('twenty clients whose response was lost', () => {
  const scenarioFolder = join(folder, 'losses')
  mkdirSync(scenarioFolder)
  for (const loss of LOSSES)
    for (const pauseMs of [0, 300]) {
      const lines = [`fault: createPet:${loss}*1,after`, 'conform: { job: create, delivers: fault }']
      writeFileSync(join(scenarioFolder, `${loss.replaceAll(/\W/g, '-')}-${pauseMs}.yaml`), lines.join('\n'))
    }
  const names = readdirSync(scenarioFolder).map((file) => file.replace('.yaml', ''))
  const flags = ['--scenarios', scenarioFolder, ...names.flatMap((name) => ['--scenario', name])]
  const run = async (writes: string) => {
    const options = JSON.stringify({ attempts: 5, timeout: 4000, writes, delay: 'PAUSE' })
    const command = `node client.mjs fetch '${options.replace('"PAUSE"', `'"\${PETSTORE_SCENARIO##*-}"'`)}'`
    const scenarios = await runConform(flags, command)
    return scenarios.map(({ outcome, findings }) => [outcome, ...findings.map(({ rule }) => rule)])
  }

  it('finds each that repeats its POST', async () => {
    await unlessStalled(async () => expect(await run('all')).toEqual(Array(20).fill(['failed', 'repeated-write'])))
  })

  it('accuses none that reads the list first', async () => {
    await unlessStalled(async () => expect(await run('read-back')).toEqual(Array(20).fill(['passed'])))
  })
})
