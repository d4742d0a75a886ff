import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/patience.js'
import { specsIn } from './playwright-outcome.js'
import { follow } from './project.js'

it('Playwright’s workers have storms and faults of their own on one sandbox, and leave nothing running', async () => {
  const { folder, files, run, origin, shop } = await follow('playwright', 'shop')
  const specs = [...files.keys()].filter((path) => path.includes('spec'))
  expect(specs.length).toBeGreaterThan(0)
  const playwright = run(
    `PLAYWRIGHT_JSON_OUTPUT_NAME=outcome.json npx playwright test --timeout ${PATIENCE_MS} --config ci.config.js --reporter json`,
  )
  expect(await playwright.code, playwright.said()).toBe(0)
  const tried = specsIn(join(folder, 'outcome.json'))
  expect(new Set(tried.map(({ title }) => title)).size).toBe(specs.length + 1)
  expect(tried.every(({ ok }) => ok)).toBe(true)
  const workers = tried.flatMap(({ tests }) => tests.flatMap(({ results }) => results.map((one) => one.parallelIndex)))
  expect(new Set(workers).size).toBe(2)
  for (const address of [shop, origin]) await expect(fetch(address)).rejects.toThrow()
})
