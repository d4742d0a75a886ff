import { describe, expect, it } from 'vitest'
import { TrafficTally } from '../../src/exchanges/traffic.js'
import { startSandbox } from '../../src/index.js'

const NOON = Date.parse('2026-03-01T12:00:00Z')

describe('the traffic of a space', () => {
  it('counts exchanges by the second of their arrival, up to now', () => {
    const tally = new TrafficTally()
    for (const at of [-61_000, -1]) tally.add(NOON + at, 'answered')
    for (const at of [0, 999]) tally.add(NOON + at, 'limited')
    tally.add(NOON + 1000, 'failed')
    const { from, outcomes } = tally.buckets(1, 60, NOON + 999)
    expect(from).toBe('2026-03-01T11:59:01.000Z')
    expect(outcomes.answered).toEqual(Array.from({ length: 60 }, (_, second) => (second === 58 ? 1 : 0)))
    expect([outcomes.limited.at(-1), outcomes.failed.at(-1)]).toEqual([2, 0])
    expect(tally.buckets(10, 60, NOON).outcomes.answered.reduce((sum, count) => sum + count)).toBe(2)
  })

  it('counts a day of requests, the older ones by minute', () => {
    const tally = new TrafficTally()
    for (let second = 0; second < 2 * 3600; second++) tally.add(NOON + second * 1000, 'answered')
    const { outcomes } = tally.buckets(1800, 48, NOON + 2 * 3600_000 - 1)
    expect(outcomes.answered.slice(-5)).toEqual([0, 1800, 1800, 1800, 1800])
    const copy = new TrafficTally()
    copy.load(tally.save())
    expect(copy.buckets(60, 120, NOON + 2 * 3600_000 - 1).outcomes.answered).toEqual(Array(120).fill(60))
  })

  it('still has exchanges that have left the log, and counts a response that was cut off as such', async () => {
    await using sandbox = await startSandbox({ seed: 1, logLimit: 2, now: '2026-03-01T12:00:00Z', freeze: true })
    const ask = () => fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    const traffic = async () => Object(await (await fetch(`${sandbox.controlUrl}/requests/traffic?buckets=1`)).json())
    for (let n = 0; n < 5; n++) await (await ask()).text()
    await sandbox.faults.add('listPets:truncated-body*1')
    await expect(ask().then((response) => response.text())).rejects.toThrow()
    expect(await traffic()).toMatchObject({
      from: '2026-03-01T12:00:00.000Z',
      outcomes: { answered: [5], refused: [0], limited: [0], failed: [0], cut: [1] },
      events: [{ verb: 'faults.add', text: 'Fault added: listPets:truncated-body*1.', afterId: 5 }],
    })
    expect((await sandbox.requests()).at(-1)).toMatchObject({ ended: 'cut', rule: 'listPets:truncated-body*1' })
    await sandbox.reset()
    expect(await traffic()).toMatchObject({ outcomes: { answered: [0] }, events: [{ verb: 'reset' }] })
    await sandbox.undo()
    expect(await traffic()).toMatchObject({ outcomes: { answered: [5], cut: [1] }, events: [{ afterId: 5 }, {}, {}] })
  })

  it.each([
    [{ banAfter: 2 }, '2 early requests', 4],
    [{ banAfter: 1 }, '1 early request', 3],
    [{ banAfter: 2, senders: 2 }, '4 early requests', 7],
  ])('has the ban that early requests caused with %j, their number, and when it ends', async (options, early, sent) => {
    const frozen = { now: '2026-03-01T12:00:00Z', freeze: true }
    await using sandbox = await startSandbox({ limits: '1/min', ...options, ...frozen })
    for (let n = 0; n < sent; n++)
      await (await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).text()
    const { events } = Object(await (await fetch(`${sandbox.controlUrl}/requests/traffic`)).json())
    const until = '2026-03-01T12:05:00.000Z'
    const text = `Key sandbox is banned until ${until}: ${early}.`
    expect(events).toEqual([{ at: '2026-03-01T12:00:00.000Z', verb: 'ban', text, until, afterId: sent - 1 }])
  })
})
