import { describe, expect, it } from 'vitest'
import { digestSandbox } from '../../src/core/checkpoint.js'
import { digestOf } from '../../src/system/runtime.js'
import { openPage } from '../support/page/in-chromium.js'
import { TEST_SEED } from '../support/test-seed.js'
import { openMachine, stateText } from './machine.js'
import { PLANS } from './run.js'
import { runCommands } from './run-commands.js'

describe('a machine in a page', () => {
  it.each(PLANS.filter(({ spec }) => spec === undefined))(
    'says the same to each command as one in Node, and is the same in the end: $name',
    async ({ sandbox, commands }) => {
      const seed = TEST_SEED
      const warnings: string[] = []
      const machine = openMachine({ sandbox, warn: (text) => warnings.push(text) })
      const { outcomes, wall } = runCommands(machine, seed, commands)
      const said = [...outcomes, warnings.join('\n'), stateText(machine, wall), digestSandbox(machine)]
      const here = said.map((text) => digestOf(text))
      const page = await openPage()
      const there = await page.evaluate(([of, count, options]) => globalThis.sandboxes.digests(of, count, options), [
        seed,
        commands,
        sandbox,
      ] as const)
      expect(there.length).toBe(here.length)
      const differs = here.findIndex((digest, at) => digest !== there[at])
      expect(differs, `seed ${seed}: ${said[differs]}`).toBe(-1)
    },
  )
})
