import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { PATIENCE_MS } from '../support/patience.js'
import { follow } from './project.js'

/** What asks of the handlers, in the project that has it. */
const SUITE = 'mocks/handlers.test.js'
const NODE = Number.parseInt(process.versions.node, 10)

describe.each([
  { version: 2, project: 'shop', firstNode: 18 },
  { version: 3, project: 'msw-3', firstNode: 22 },
])('behind MSW $version', ({ version, project, firstNode }) => {
  it.skipIf(NODE < firstNode)('the service keeps pets and quotas, and fails as a network does', async () => {
    const { folder, files, run } = await follow('msw', project)
    expect([...files.keys()]).toEqual(['mocks/handlers.ts'])
    if (!existsSync(join(folder, SUITE))) cpSync(join(inject('projects'), 'shop', SUITE), join(folder, SUITE))
    const vitest = run(
      `grep '"version"' node_modules/msw/package.json; npx vitest run --testTimeout=${PATIENCE_MS} mocks`,
    )
    expect(await vitest.code, vitest.said()).toBe(0)
    expect(vitest.said()).toMatch(new RegExp(`"version": "${version}\\.`))
    expect(vitest.said()).toMatch(/Tests {2}3 passed \(3\)/)
  })
})
