import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { follow } from './project.js'

interface Suite {
  readonly suites?: readonly Suite[]
  readonly specs: readonly { readonly title: string; readonly ok: boolean; readonly tests: readonly Test[] }[]
}
interface Test {
  readonly results: readonly { readonly parallelIndex: number }[]
}

it('Playwright’s workers have weather of their own on one sandbox, and leave nothing running', async () => {
  const { folder, files, run, origin, shop } = await follow('playwright', 'shop')
  const specs = [...files.keys()].filter((path) => path.includes('spec'))
  expect(specs.length).toBeGreaterThan(0)
  const playwright = run(
    'PLAYWRIGHT_JSON_OUTPUT_NAME=outcome.json npx playwright test --config ci.config.js --reporter json',
  )
  expect(await playwright.code, playwright.said()).toBe(0)
  const outcome: Suite = JSON.parse(readFileSync(join(folder, 'outcome.json'), 'utf8'))
  const tried = specsOf(outcome)
  expect(new Set(tried.map(({ title }) => title)).size).toBe(specs.length + 1)
  expect(tried.every(({ ok }) => ok)).toBe(true)
  const workers = tried.flatMap(({ tests }) => tests.flatMap(({ results }) => results.map((one) => one.parallelIndex)))
  expect(new Set(workers).size).toBe(2)
  for (const address of [shop, origin]) await expect(fetch(address)).rejects.toThrow()
})

function specsOf({ suites = [], specs = [] }: Suite): Suite['specs'] {
  return [...specs, ...suites.flatMap(specsOf)]
}
