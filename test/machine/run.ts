import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { digestSandbox } from '../../src/core/checkpoint.js'
import { openContract } from '../../src/openapi/open-contract.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { runs } from '../support/test-seed.js'
import { type MachineOptions, openMachine, stateText } from './machine.js'
import { runCommands } from './run-commands.js'

/** A machine's start, and as many commands as it is given. */
export interface Plan {
  readonly name: string
  readonly spec?: string
  readonly sandbox: SandboxOptions
  readonly commands: number
}

/** The starts that the commands are spread over. */
export const PLANS: readonly Plan[] = [
  { name: 'as it comes', sandbox: { maxSpaces: 5, logLimit: 60 }, commands: runs(4000) },
  {
    name: 'any key, frozen, little room',
    sandbox: {
      maxSpaces: 5,
      logLimit: 20,
      anyKey: true,
      freeze: true,
      now: '2026-03-01T10:00:00Z',
      maxStore: '16KiB',
      seed: 7,
      order: 'oldest',
      banAfter: 2,
      cors: ['https://example.org'],
    },
    commands: runs(3000),
  },
  {
    name: 'another contract, whose operations Prism mocks',
    spec: join(packageDirectory, 'test/contract/specs/fuller.yaml'),
    sandbox: { maxSpaces: 3, logLimit: 0, reason: false, latency: '1ms..9ms', storm: '0.3,for=30s,every=2m' },
    commands: runs(2000),
  },
]

/** What the machine of a plan starts from. */
export async function startOf({ spec, sandbox }: Plan): Promise<MachineOptions> {
  return { contract: await openContract(spec), sandbox }
}

/** One line for all that machines say to the commands of a seed, and what they are at the end. */
export async function digestLine(seed: string): Promise<string> {
  const hash = createHash('sha256')
  let count = 0
  for (const plan of PLANS) {
    const warnings: string[] = []
    const machine = openMachine({ ...(await startOf(plan)), warn: (message) => warnings.push(message) })
    const { outcomes, wall } = runCommands(machine, `${seed}:${plan.name}`, plan.commands)
    for (const text of outcomes) hash.update(`${text}\n`)
    for (const text of warnings) hash.update(`${text}\n`)
    hash.update(stateText(machine, wall))
    hash.update(digestSandbox(machine))
    count += outcomes.length
  }
  return `${hash.digest('hex')} of ${count} commands`
}
