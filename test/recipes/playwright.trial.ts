import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/patience.js'
import { specsIn } from './playwright-outcome.js'
import { openProject } from './project.js'

it('Playwright serves a page whose service has another address: quota, storm, ban, wire faults, conduct', async () => {
  const { folder, run } = await openProject('shop')
  const playwright = run(
    `PLAYWRIGHT_JSON_OUTPUT_NAME=routed.json npx playwright test --timeout ${PATIENCE_MS} --config ci.route.config.js --reporter json`,
  )
  expect(await playwright.code, playwright.said()).toBe(0)
  const tried = specsIn(join(folder, 'routed.json'))
  expect(tried.filter(({ ok }) => ok).map(({ title }) => title)).toEqual([
    'retries as soon as Retry-After allows',
    'keeps what is written',
    'is served again when the minute is over, and told on if it does not wait',
    'is served again when its ban is over',
    'fails as a network does: connection-reset',
    'fails as a network does: empty-response',
    'fails as a network does: malformed-chunk',
    'hangs until the page has lost its patience',
    'may end while a request hangs',
    'takes its time',
  ])
})
