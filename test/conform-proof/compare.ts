import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SeenExchange } from '../../src/cli/conform/verdict.js'
import { GROUPS, LETTERS, type Row } from './table.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const BIN = fileURLToPath(new URL('../../bin/petstore-sandbox.js', import.meta.url))

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

/** Runs a client. @param only scenarios to run; the others have the letter `-` */
export async function compareRow(
  { command, job, expected }: Row,
  only?: readonly string[],
): Promise<{ readonly letters: string; readonly differences: readonly string[] }> {
  const names = GROUPS.flat().filter((name) => only?.includes(name) ?? true)
  const flags = names.flatMap((name) => ['--scenario', name])
  const scenarios = await runConform([...flags, '--job', job ?? 'both'], command)
  const letters = GROUPS.map((group) =>
    group.map((name) => letterOf(scenarios.find((scenario) => scenario.name === name))).join(''),
  )
  const wanted = expected.split(' ')
  const differences = GROUPS.flatMap((group, g) =>
    group.flatMap((name, n) => {
      const [is, should] = [letters[g]?.[n], wanted[g]?.[n]]
      if (is === should || !names.includes(name)) return []
      const { reason, exchanges = [] } = scenarios.find((scenario) => scenario.name === name) ?? {}
      const lines = exchanges.map(({ id, at, status, durationMs, ended }) =>
        [id, at, status, durationMs, ended].join(' '),
      )
      return [[`${name}: ${is}, not ${should}: ${reason}`, ...lines].join('\n           ')]
    }),
  )
  return { letters: letters.join(' '), differences }
}

function letterOf(scenario: Scenario | undefined): string {
  if (scenario === undefined) return '-'
  const { outcome, reason } = scenario
  const found = Object.entries(LETTERS).find(([, is]) => (is instanceof RegExp ? is.test(reason) : is === outcome))
  return found?.[0] ?? '?'
}
