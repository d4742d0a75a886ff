import { describe, it } from 'vitest'
import { driftingService } from '../client/drifting-service.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { temporaryFile } from '../support/temporary-files.js'
import { row, useBrowser } from './browser.js'

const REAL_KEY = 'a-real-key-of-staging'
const OWN_PET = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"name":"Own","categoryId":1}',
}

describe.skipIf(!HAS_CHROMIUM)('the dashboard in front of a real service', () => {
  const { open } = useBrowser()

  it('names the service, and explains its responses, its failures and refused writes', async () => {
    let isThere = true
    const service = await driftingService((_came, goes) => (isThere ? goes : 'drop'), {
      apiKey: [`real=${REAL_KEY}:business`],
    })
    const upstream = { upstream: service.baseUrl, upstreamApiKeyFile: temporaryFile('key', REAL_KEY) }
    const { page, ask } = await open({ sandbox: upstream })
    const bar = page.getByRole('region', { name: 'Active now' })
    await bar.getByText(`in front of ${service.baseUrl}`).waitFor()
    const explained = async (request: string, text: string) => {
      // The list holds while a row has the focus.
      await page.locator('#filter').focus()
      await row(page, request).locator('.path').click()
      await page.locator('.detail').getByText(text).waitFor()
    }
    await ask('/pets?limit=1')
    await explained('limit=1', 'The response is from the real service behind the sandbox.')
    isThere = false
    await ask('/pets?limit=2')
    await explained('limit=2', 'The real service did not send a valid response.')
    await ask('/pets', 'sandbox', OWN_PET)
    await explained('POST', 'The sandbox sends no writes to the real service.')
  })
})
