import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { unlessStalled } from '../../support/stalls.js'
import { type Experiment, Trial } from './trial.js'

/**
 * Runs the experiments on the built command, prints a Markdown table, and exits with 1 if anything was lost:
 * `npm run torture -- [--short] [--seed <text>] [<experiment> …]`
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) } },
})
const TIMEOUT_MS = 300_000
const EXPERIMENTS = readdirSync(new URL('experiments/', import.meta.url)).map((file) => file.replace(/\.ts$/, ''))

process.stderr.write(`Seed: ${values.seed} (--seed ${values.seed} repeats the choices).\n`)
const table = ['| experiment | tried | survived | lost | seconds | what |', '|---|--:|--:|--:|--:|---|']
for (const name of positionals.length === 0 ? EXPERIMENTS : positionals) {
  const [experiment]: Experiment[] = Object.values(await import(`./experiments/${name}.ts`))
  if (experiment !== undefined) table.push(await endure(name, experiment))
}
process.stdout.write(`${table.join('\n')}\n`)

/** @returns the row of the table */
async function endure(name: string, experiment: Experiment): Promise<string> {
  const startedAt = performance.now()
  let trial = new Trial('', false)
  const runOnce = async () => {
    trial = await runTrial(name, experiment)
    if (trial.lost > 0) throw new Error('something was lost')
  }
  await (experiment.needsRealTime === true ? unlessStalled(runOnce) : runOnce()).catch(() => {})
  const { survived, lost, losses, notes } = trial
  if (lost > 0) process.exitCode = 1
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stderr.write(`${lost === 0 ? 'ok  ' : 'LOST'} ${name} (${seconds} s)\n`)
  for (const loss of losses) process.stderr.write(`     ${loss}\n`)
  const what = [experiment.counts, ...notes].join('; ')
  return `| ${name} | ${survived + lost} | ${survived} | ${lost} | ${seconds} | ${what} |`
}

async function runTrial(name: string, { run, timeoutMs = TIMEOUT_MS }: Experiment): Promise<Trial> {
  const trial = new Trial(`${values.seed}:${name}`, values.short === true)
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${timeoutMs} ms`)), timeoutMs)
  })
  await Promise.race([run(trial), hangs]).catch((error: unknown) => {
    trial.lose(error instanceof Error ? (error.stack ?? error.message) : String(error))
  })
  clearTimeout(timer)
  await trial.end()
  return trial
}
