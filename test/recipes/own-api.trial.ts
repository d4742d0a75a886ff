import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { PATIENCE_MS } from '../support/patience.js'
import { PYTHON } from '../support/python.js'
import { requireTool } from '../support/tools.js'
import { specsIn } from './playwright-outcome.js'
import { openProject } from './project.js'

// A task board as NestJS describes it, and bookings as FastAPI does: the application's own clients, page and tests, with
// nothing for the sandbox in them.

const PROJECT = 'own-api'
const HAS_PYTEST = requireTool('pytest', () => spawnSync(PYTHON, ['-c', 'import pytest']).status === 0)

describe('an API of your own', () => {
  it('serves generated clients that check each response', async () => {
    const { folder, run } = await openProject(PROJECT)
    const outcome = join(folder, 'outcome.json')
    const suite = run(
      `npm run generate && npx vitest run --testTimeout=${PATIENCE_MS} --reporter=json --outputFile=${outcome}`,
    )
    expect(await suite.code, suite.said()).toBe(0)
    expect(JSON.parse(readFileSync(outcome, 'utf8'))).toMatchObject({ success: true, numPassedTests: 10 })
  })

  const playwright = async (environment: string) => {
    const { folder, run } = await openProject(PROJECT)
    const tests = run(
      `${environment} PLAYWRIGHT_JSON_OUTPUT_NAME=outcome.json npx playwright test --timeout ${PATIENCE_MS} --reporter json`,
    )
    await tests.code
    return Object.fromEntries(specsIn(join(folder, 'outcome.json')).map(({ title, ok }) => [title, ok]))
  }
  const shown = 'shows the bookings to whoever has logged in'

  it('serves a page that logs in', async () => {
    const others = { 'shows a wrong password': true, 'shows an empty list': true }
    expect(await playwright('')).toEqual({ [shown]: true, ...others })
  })

  it('refuses a page that forgets its token', async () => {
    // Short, because these tests fail by waiting.
    const outcome = await playwright('VITE_FORGETS_TOKEN=1')
    expect(outcome).toEqual({ [shown]: false, 'shows a wrong password': true, 'shows an empty list': false })
  })

  it.skipIf(!HAS_PYTEST)('serves pytest', async () => {
    const { folder, run } = await openProject(PROJECT)
    const [, fixture = ''] =
      /^# conftest\.py\n(.*?)^```$/ms.exec(readFileSync(join(packageDirectory, 'docs/other-languages.md'), 'utf8')) ??
      []
    writeFileSync(join(folder, 'conftest.py'), fixture)
    const pytest = run(`npx petstore-sandbox exec --spec booking.json -- ${PYTHON} -m pytest -q -p no:cacheprovider`)
    expect(await pytest.code, pytest.said()).toBe(0)
    expect(pytest.said()).toContain('5 passed')
  })

  it.each([
    ['', 0],
    ['impatient', 1],
  ])('judges a client, %s', async (kind, code) => {
    const { run } = await openProject(PROJECT)
    const conform = run(`npx petstore-sandbox conform --spec booking.json --resource rooms -- node client.mjs ${kind}`)
    expect(await conform.code, conform.said()).toBe(code)
    if (code !== 0) expect(conform.said()).toContain('repeats a stored write')
  })
})
