import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SeenExchange } from '../../../src/cli/conform/verdict.js'
import { GROUPS, LETTERS, type Row } from './table.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))
/** Of each run. On a busy machine, a run of a client that gives up after 8 s may need more than the default. */
const TIMEOUT = '40s'
const UNDECIDED = 'b'
const BIN = fileURLToPath(new URL('../../../bin/petstore-sandbox.js', import.meta.url))

interface Scenario {
  readonly name: string
  readonly outcome: string
  readonly reason: string
  readonly findings: readonly { readonly rule: string }[]
  readonly exchanges: readonly SeenExchange[]
}

/** Runs `conform -o json` in this folder. */
export async function runConform(flags: readonly string[], command: string): Promise<readonly Scenario[]> {
  const args = [BIN, 'conform', '-o', 'json', ...flags, '--', 'sh', '-c', command]
  const child = spawn(process.execPath, args, { cwd: HERE, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  await once(child, 'close')
  return (JSON.parse(text) as { scenarios: readonly Scenario[] }).scenarios
}

export interface RowResult {
  readonly letters: string
  readonly cells: number
  /** Cells without a verdict, because the machine was too busy. */
  readonly undecided: number
  readonly differences: readonly string[]
}

/** Runs a client. @param only scenarios to run; the others have the letter `-` */
export async function compareRow({ command, job, expected }: Row, only?: readonly string[]): Promise<RowResult> {
  const wanted = expected.split(' ')
  // Scenarios of another job are refused.
  const ofJob = GROUPS.flatMap((group, g) => group.filter((_, n) => wanted[g]?.[n] !== '-'))
  const names = ofJob.filter((name) => only?.includes(name) ?? true)
  const flags = names.flatMap((name) => ['--scenario', name])
  const scenarios = await runConform([...flags, '--job', job ?? 'both', '--timeout', TIMEOUT], command)
  const letters = GROUPS.map((group) =>
    group.map((name) => letterOf(scenarios.find((scenario) => scenario.name === name))).join(''),
  )
  const differences = GROUPS.flatMap((group, g) =>
    group.flatMap((name, n) => {
      const [is, should] = [letters[g]?.[n], wanted[g]?.[n]]
      const isEqual = is === should || (should === 'P' && (is === 'p' || is === 'g'))
      if (isEqual || is === UNDECIDED || !names.includes(name)) return []
      const { reason, exchanges = [] } = scenarios.find((scenario) => scenario.name === name) ?? {}
      const lines = exchanges.map(({ id, at, status, durationMs, ended }) =>
        [id, at, status, durationMs, ended].join(' '),
      )
      return [[`${name}: ${is}, not ${should}: ${reason}`, ...lines].join('\n           ')]
    }),
  )
  const undecided = letters.join('').split(UNDECIDED).length - 1
  return { letters: letters.join(' '), cells: scenarios.length, undecided, differences }
}

function letterOf(scenario: Scenario | undefined): string {
  if (scenario === undefined) return '-'
  const { outcome, reason } = scenario
  const found = Object.entries(LETTERS).find(([, is]) => (is instanceof RegExp ? is.test(reason) : is === outcome))
  return found?.[0] ?? '?'
}
