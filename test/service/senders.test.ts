import { describe, expect, it } from 'vitest'
import { type TestSandbox, transports } from '../support/transports.js'

async function conductOf(sandbox: TestSandbox, space = '') {
  return (await sandbox.control('GET', `/conduct?space=${space}`)).json
}

describe.each(transports)('the senders of a key, %s', (_name, openSandbox) => {
  it('are one unless stated: at the start, by a setting, for each space', async () => {
    const sandbox = await openSandbox({ senders: 3 })
    await sandbox.get('/pets', 'sandbox~one')
    expect(await conductOf(sandbox)).toMatchObject({ senders: 3 })
    await sandbox.control('PATCH', '/settings?space=one', { senders: 5 })
    expect(await conductOf(sandbox, 'one')).toMatchObject({ senders: 5 })
    await sandbox.control('PATCH', '/settings?space=one', { senders: null })
    expect((await sandbox.control('GET', '/settings?space=one')).json).toMatchObject({ senders: null })
    expect(await conductOf(sandbox, 'one')).toMatchObject({ senders: 1 })
    const { status, json } = await sandbox.control('PATCH', '/settings', { senders: 101 })
    expect({ status, json }).toMatchObject({ status: 400, json: { message: expect.stringContaining('from 1 to 100') } })
  })
})

describe.each(transports)('a request that browsers send on their own, %s', (_name, openSandbox) => {
  it('is not judged, and not charged', async () => {
    const sandbox = await openSandbox()
    const { remaining } = await sandbox.get('/pets', null)
    for (const path of ['/favicon.ico', '/.well-known/appspecific/com.chrome.devtools.json'])
      expect(await sandbox.call(path, { key: null })).toMatchObject({ status: 404, remaining })
    expect(await conductOf(sandbox)).toMatchObject({ requests: 1, violations: [{ rule: 'unauthenticated', count: 1 }] })
  })
})
