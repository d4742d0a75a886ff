import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { observe, POLITE_CREWS, RUDE_CREWS } from './crews.js'

// Beside a spinner on every processor, fifty times: `npm run torture -- conduct-under-load`.

const SHIFT_MS = 2500

let sandbox: Awaited<ReturnType<typeof startSandbox>>

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 1 })
})
afterAll(() => sandbox.close())

describe.concurrent('a crew that shares a key', () => {
  const shift = () => ({ baseUrl: sandbox.baseUrl, chance: Math.random, duration: SHIFT_MS })

  it.each(POLITE_CREWS.map((crew, index) => ({ ...crew, space: `polite-${index}` })))(
    'and keeps the rules breaks none: $name',
    async ({ space, ...crew }) => {
      const { violations, refused } = await observe(crew, sandbox.space(space), shift())
      expect(violations).toEqual([])
      // Else it had nothing to keep. One alone may be lucky.
      if (crew.senders > 1) expect(refused).toBeGreaterThan(0)
    },
  )

  it.each(RUDE_CREWS.map((crew, index) => ({ ...crew, space: `rude-${index}` })))(
    'and does not is found: $name',
    async ({ space, ...crew }) => {
      const { violations } = await observe(crew, sandbox.space(space), shift())
      expect(violations.join()).toContain(`${crew.breaks} (`)
    },
  )
})
