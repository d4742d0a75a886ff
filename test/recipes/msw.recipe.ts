import { expect, it } from 'vitest'
import { follow } from './project.js'

it('behind MSW, the service keeps pets and quotas, and fails as a network does', async () => {
  const { files, run } = await follow('msw', 'shop')
  expect([...files.keys()]).toEqual(['mocks/handlers.ts'])
  const vitest = run('npx vitest run mocks')
  expect(await vitest.code, vitest.said()).toBe(0)
  expect(vitest.said()).toMatch(/Tests {2}3 passed \(3\)/)
})
