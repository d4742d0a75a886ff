import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/patience.js'
import { follow } from './project.js'

describe.each([
  { version: 3, project: 'vitest-3' },
  { version: 4, project: 'shop' },
  { version: 5, project: 'vitest-5' },
])('Vitest $version', ({ version, project }) => {
  it('gives every test a sandbox of its own, with a clock', async () => {
    const { folder, files, run } = await follow('vitest', project)
    const outcome = join(folder, 'outcome.json')
    const vitest = run(
      `npx vitest --version; npx vitest run --testTimeout=${PATIENCE_MS} --reporter=json --outputFile=${outcome} ${[...files.keys()].join(' ')}`,
    )
    expect(await vitest.code, vitest.said()).toBe(0)
    expect(vitest.said()).toMatch(new RegExp(`^vitest/${version}\\.`, 'm'))
    expect(JSON.parse(readFileSync(outcome, 'utf8'))).toMatchObject({
      success: true,
      numTotalTestSuites: files.size,
      numPassedTests: files.size,
    })
  })
})
