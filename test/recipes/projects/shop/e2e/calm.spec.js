import { expect, test } from '@playwright/test'

test('lists pets while other tests have storms and faults', async ({ page }, { testId }) => {
  await page.addInitScript((key) => localStorage.setItem('apiKey', key), `sandbox-free~${testId}`)
  await page.goto('/')
  await expect(page.getByRole('listitem')).toHaveCount(20)
})
