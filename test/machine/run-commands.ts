import type { Spaces } from '../../src/core/spaces.js'
import { Commands } from './commands.js'
import { applyStep, outcomeText, type Step } from './machine.js'

/** Applies the commands of a seed to a machine. @returns the commands, and the outcome of each as text */
export function runCommands(
  machine: Spaces,
  seed: string,
  count: number,
  between: (commands: Commands) => void = () => {},
): { readonly steps: readonly Step[]; readonly outcomes: readonly string[]; readonly wall: number } {
  const commands = new Commands(seed)
  const steps: Step[] = []
  const outcomes: string[] = []
  for (let i = 0; i < count; i++) {
    const step = commands.next()
    const outcome = applyStep(machine, step)
    commands.heard(outcome)
    steps.push(step)
    outcomes.push(outcomeText(outcome))
    between(commands)
  }
  return { steps, outcomes, wall: commands.wall }
}
