import { describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'

describe('the changes of a space', () => {
  it('include the changes before a reset once it is undone', async () => {
    await using sandbox = await startSandbox({ now: '2026-03-01T12:00:00Z', freeze: true })
    await (await fetch(`${sandbox.baseUrl}/pets`)).text()
    await sandbox.faults.add('listPets:truncated-body*1')
    await sandbox.reset()
    expect(await sandbox.events()).toMatchObject([{ verb: 'reset' }])
    await sandbox.undo()
    expect(await sandbox.events()).toMatchObject([
      { verb: 'faults.add', text: 'Fault added: listPets:truncated-body*1.', afterId: 1 },
      { verb: 'reset' },
      { verb: 'undo' },
    ])
  })

  it('an exchange that a fault rule cut off names the rule', async () => {
    await using sandbox = await startSandbox({ fault: 'listPets:truncated-body*1' })
    const broken = fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    await expect(broken.then((response) => response.text())).rejects.toThrow()
    expect(await sandbox.requests()).toMatchObject([{ ended: 'cut', rule: 'listPets:truncated-body*1' }])
  })

  it.each([
    [{ banAfter: 2 }, '2 early requests', 4],
    [{ banAfter: 1 }, '1 early request', 3],
    [{ banAfter: 2, senders: 2 }, '4 early requests of 2 senders', 7],
  ])(
    'include the ban that early requests caused with %j, their number, and when it ends',
    async (options, early, sent) => {
      const frozen = { now: '2026-03-01T12:00:00Z', freeze: true }
      await using sandbox = await startSandbox({ limits: '1/min', ...options, ...frozen })
      for (let n = 0; n < sent; n++)
        await (await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).text()
      const until = '2026-03-01T12:05:00.000Z'
      const text = `Key sandbox is banned until ${until}: ${early}.`
      expect(await sandbox.events()).toEqual([
        {
          at: '2026-03-01T12:00:00.000Z',
          verb: 'ban',
          text,
          until,
          key: 'sandbox',
          early: Number.parseInt(early),
          afterId: sent - 1,
        },
      ])
    },
  )

  it('name the key of a ban by hand, and of one that is lifted', async () => {
    await using sandbox = await startSandbox({ now: '2026-03-01T12:00:00Z', freeze: true })
    await sandbox.ban('sandbox-pro', { for: '1m' })
    await sandbox.unban('sandbox-pro')
    expect(await sandbox.events()).toMatchObject([
      { verb: 'keys.ban', key: 'sandbox-pro', until: '2026-03-01T12:01:00.000Z' },
      { verb: 'keys.unban', key: 'sandbox-pro' },
    ])
  })
})

describe('a request that ignores an earlier response', () => {
  it('names it, with the rule of conduct, also beyond the exchanges of the finding', async () => {
    await using sandbox = await startSandbox({ limits: '1/min', banAfter: 'never', seed: 1 })
    for (let n = 0; n < 30; n++)
      await (await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).text()
    const ignored = (await sandbox.requests()).map(({ disobeyed }) => disobeyed)
    expect(ignored.slice(0, 2)).toEqual([undefined, undefined])
    expect(ignored.slice(2)).toEqual(ignored.slice(2).map((_, n) => ({ rule: 'early-retry', exchange: n + 2 })))
  })
})
