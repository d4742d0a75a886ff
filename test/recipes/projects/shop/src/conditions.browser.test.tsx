import { createSandbox } from 'petstore-sandbox/browser'
import { expect, test, vi } from 'vitest'
import { EXPECTED_CONDITIONS, tryConditions } from './conditions'

test('handles storms, faults, bans and latency', async () => {
  const sandbox = await createSandbox()
  vi.stubGlobal('fetch', sandbox.fetch)
  vi.stubEnv('VITE_API_URL', sandbox.baseUrl)
  expect(await tryConditions(sandbox)).toEqual(EXPECTED_CONDITIONS)
  vi.unstubAllGlobals()
})
