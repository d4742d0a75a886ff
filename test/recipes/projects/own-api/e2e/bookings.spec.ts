import { expect, type Page } from '@playwright/test'
import { test } from 'petstore-sandbox/playwright'

async function logIn(page: Page): Promise<void> {
  await page.goto('/')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('secret-password')
  await page.getByRole('button').click()
}

test('shows the bookings to whoever has logged in', async ({ page }) => {
  await logIn(page)
  await expect(page.getByRole('status')).toHaveText('5 bookings')
})

test('shows a wrong password', async ({ page, sandbox }) => {
  await sandbox.faults.add({ operation: 'login_token_post', status: 401, body: { detail: 'Wrong password' } })
  await logIn(page)
  await expect(page.getByRole('status')).toHaveText('401: Wrong password')
})

test('shows an empty list', async ({ page, sandbox }) => {
  for (const { id } of await sandbox.records.list<{ id: number }>('bookings'))
    await sandbox.records.remove('bookings', id)
  await logIn(page)
  await expect(page.getByRole('status')).toHaveText('0 bookings')
})
