import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('a token that is nobody’s here, %s', (_name, openSandbox) => {
  it('is in no log, also where every key is taken', async () => {
    const sandbox = await openSandbox({ anyKey: true })
    expect(await sandbox.get('/pets', 'sk_live_secret')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/pets', 'sk_live_secret~checkout')).toMatchObject({ status: 200 })
    const logs = [await sandbox.control('GET', '/requests'), await sandbox.control('GET', '/requests?space=checkout')]
    for (const { json } of logs) {
      expect(json).toMatchObject([{ key: 'unknown', request: { headers: { authorization: 'Bearer unknown' } } }])
      expect(JSON.stringify(json)).not.toContain('sk_live_secret')
    }
  })
})
