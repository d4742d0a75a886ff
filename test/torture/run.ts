import { readdirSync } from 'node:fs'
import { type Experiment, Trial } from './trial.js'

/** Runs the experiments on the built command, prints a Markdown table, and exits with 1 if anything was lost. */
const USAGE = 'npm run torture -- [--short] [--seed <text>] [--except <experiment>] [<experiment> …]'

const PATIENCE_MS = 300_000

const EXPERIMENTS = readdirSync(new URL('experiments/', import.meta.url)).map((file) => file.replace(/\.ts$/, ''))

interface Row {
  readonly name: string
  readonly counts: string
  readonly trial: Trial
  readonly seconds: number
}

const asked = readArguments(process.argv.slice(2))
process.stderr.write(`Seed: ${asked.seed} (--seed ${asked.seed} repeats the choices).\n`)
const rows: Row[] = []
for (const name of asked.experiments) {
  const [experiment]: Experiment[] = Object.values(await import(`./experiments/${name}.ts`))
  if (experiment !== undefined) rows.push(await endure(name, experiment))
}
process.stdout.write(table(rows))
const lost = rows.reduce((sum, { trial }) => sum + trial.lost, 0)
process.exitCode = lost === 0 ? 0 : 1

async function endure(name: string, experiment: Experiment): Promise<Row> {
  const startedAt = performance.now()
  const trial = new Trial(`${asked.seed}:${name}`, asked.isShort)
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise<never>((_resolve, reject) => {
    const { patienceMs = PATIENCE_MS } = experiment
    timer = setTimeout(() => reject(new Error(`it did not end within ${patienceMs} ms`)), patienceMs)
  })
  await Promise.race([experiment.run(trial), hangs]).catch((error: unknown) => {
    trial.lose(error instanceof Error ? (error.stack ?? error.message) : String(error))
  })
  clearTimeout(timer)
  await trial.end()
  const seconds = (performance.now() - startedAt) / 1000
  process.stderr.write(`${trial.lost === 0 ? 'ok  ' : 'LOST'} ${name} (${seconds.toFixed(1)} s)\n`)
  for (const loss of trial.losses) process.stderr.write(`     ${loss}\n`)
  return { name, counts: experiment.counts, trial, seconds }
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ name, counts, trial: { survived, lost, notes }, seconds }) => {
    const what = [counts, ...notes].join('; ')
    return `| ${name} | ${survived + lost} | ${survived} | ${lost} | ${seconds.toFixed(1)} | ${what} |`
  })
  return ['| experiment | tried | survived | lost | seconds | what |', '|---|--:|--:|--:|--:|---|', ...lines, ''].join(
    '\n',
  )
}

function readArguments(given: readonly string[]) {
  let isShort = false
  let seed = String(Math.floor(Math.random() * 1e9))
  const names: string[] = []
  const except: string[] = []
  for (let i = 0; i < given.length; i++) {
    const argument = String(given[i])
    if (argument === '--short') isShort = true
    else if (argument === '--seed' && given[i + 1] !== undefined) seed = String(given[++i])
    else if (argument === '--except' && given[i + 1] !== undefined) except.push(String(given[++i]))
    else if (EXPERIMENTS.includes(argument)) names.push(argument)
    else {
      process.stderr.write(`${argument}: ${USAGE}\nExperiments: ${EXPERIMENTS.join(', ')}\n`)
      process.exit(2)
    }
  }
  const isChosen = (name: string) => (names.length === 0 || names.includes(name)) && !except.includes(name)
  return { isShort, seed, experiments: EXPERIMENTS.filter(isChosen) }
}
