import { createSandbox } from 'petstore-sandbox/browser'
import { expect, test, vi } from 'vitest'
import { EVERY_WEATHER, everyWeather } from './weather'

test('meets every weather', async () => {
  const sandbox = await createSandbox()
  vi.stubGlobal('fetch', sandbox.fetch)
  vi.stubEnv('VITE_API_URL', sandbox.baseUrl)
  expect(await everyWeather(sandbox)).toEqual(EVERY_WEATHER)
  vi.unstubAllGlobals()
})
