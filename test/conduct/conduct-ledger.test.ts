import { describe, expect, it } from 'vitest'
import type { HandlerResult } from '../../src/domain/messages.js'
import { MINUTE_MS, SECOND_MS } from '../../src/domain/time.js'
import { NOON, Scene } from './scene.js'

function times(count: number, act: () => void): void {
  for (let i = 0; i < count; i++) act()
}

describe('a wait', () => {
  it('begins when its answer was sent whole', () => {
    const scene = new Scene()
    const refused = scene.sends(scene.refusal(10_000))
    scene.sends(scene.served, { heardUpTo: 99 })
    expect(scene.broken).toEqual({})
    scene.ends(refused)
    scene.sends(scene.served, { heardUpTo: 99 })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it.each(['cut', 'left'] as const)('never begins with an answer that was %s', (how) => {
    const scene = new Scene()
    scene.ends(scene.sends(scene.refusal(10_000)), how)
    scene.sends(scene.served, { heardUpTo: 99 })
    expect(scene.broken).toEqual({})
  })

  it('is heard on the connection that carried its answer', () => {
    const scene = new Scene()
    scene.ends(scene.sends(scene.refusal(10_000), { connection: 7 }))
    scene.sends(scene.served, { connection: 8 })
    expect(scene.broken).toEqual({})
    scene.sends(scene.served, { connection: 7 })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('is heard on a connection that was opened after all had its answer, and not on one before', () => {
    const scene = new Scene()
    scene.ends(scene.sends(scene.refusal(10_000), { connection: 7 }))
    const endedAt = scene.position
    scene.sends(scene.served, { connection: 8, heardUpTo: endedAt - 1 })
    expect(scene.broken).toEqual({})
    scene.sends(scene.served, { connection: 9, heardUpTo: endedAt })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('is heard in process, where there are no connections, by the order alone', () => {
    const scene = new Scene()
    scene.ends(scene.sends(scene.refusal(10_000)))
    scene.sends(scene.served)
    expect(scene.broken).toEqual({})
  })

  it.each([
    ['by the clock', (scene: Scene, by: number) => scene.pass(by, 0)],
    ['in real time', (scene: Scene, by: number) => scene.pass(0, by)],
    ['by both', (scene: Scene, by: number) => scene.pass(by)],
  ])('is over %s, less 50 ms for timers', (_how, pass) => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000))
    pass(scene, 9950)
    scene.exchanges(scene.refusal(10_000))
    expect(scene.broken).toEqual({})
    pass(scene, 9949)
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('counts from the request, so that who is answered late need not wait longer', () => {
    const scene = new Scene()
    const refused = scene.sends(scene.refusal(2000))
    scene.pass(1960)
    scene.ends(refused)
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({})
  })

  it('ends when the clock goes back before it began, and does not come again', () => {
    const scene = new Scene()
    scene.pass(MINUTE_MS)
    scene.exchanges(scene.refusal(10_000))
    const pending = scene.sends(scene.refusal(10_000), { path: '/pets?limit=1' })
    scene.now = NOON
    scene.ledger.forgetFuture(NOON)
    scene.ends(pending)
    scene.exchanges(scene.served)
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
    scene.now = NOON + MINUTE_MS
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({})
  })

  it("is over when the machine's own clock was set back before it began", () => {
    const scene = new Scene()
    times(4, () => scene.exchanges(scene.failure, { path: '/pets?limit=1' }))
    scene.exchanges(scene.refusal(10_000))
    scene.pass(-MINUTE_MS * 60)
    scene.exchanges(scene.served)
    scene.exchanges(scene.failure, { path: '/pets?limit=1' })
    expect(scene.broken).toEqual({})
  })

  it('goes on when the clock goes back to an instant within it', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000))
    scene.now += 5000
    scene.ledger.forgetFuture(scene.now - 1000)
    scene.now -= 1000
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('concerns its key alone, and of strangers each its own', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000))
    scene.exchanges(scene.served, { key: 'sandbox-pro' })
    scene.exchanges(scene.refusal(10_000), { key: 'one', isStranger: true })
    scene.exchanges(scene.served, { key: 'other', isStranger: true })
    expect(scene.broken).toEqual({})
    scene.exchanges(scene.served, { key: 'one', isStranger: true })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })
})

describe('early-retry', () => {
  it.each([1, 2, 8])('is a request while all of %i senders have a wait running', (senders) => {
    const scene = new Scene(senders)
    // A polite crew: one after the other is refused for the first time.
    times(senders, () => scene.exchanges(scene.refusal(10_000)))
    expect(scene.violations).toEqual([])
    scene.exchanges(scene.refusal(10_000))
    expect(scene.violations).toEqual(['early-retry'])
  })

  it('is likely, and a warning, with fewer', () => {
    const scene = new Scene(2)
    scene.exchanges(scene.refusal(10_000))
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({ 'early-retry-likely': 1 })
  })

  it('is likely only when more had been told than ever before: of a polite crew, some wait at every request', () => {
    const scene = new Scene(8)
    for (const told of [1, 2, 2, 1, 3, 3]) {
      times(told, () => scene.ends(scene.sends(scene.refusal(10_000), { heardUpTo: 0 })))
      times(5, () => scene.exchanges(scene.served))
      scene.pass(10_000)
    }
    expect(scene.broken).toEqual({ 'early-retry-likely': 3 })
  })

  it('is none after an answer that may not have been read', () => {
    const scene = new Scene()
    const refused = scene.sends(scene.refusal(10_000))
    scene.ends(refused)
    scene.ledger.unread(refused)
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({})
  })

  it('counts no wait that its sender cannot have heard of, though it is running', () => {
    const scene = new Scene(2)
    scene.exchanges(scene.refusal(10_000), { connection: 1 })
    scene.exchanges(scene.refusal(10_000), { connection: 2, heardUpTo: 0 })
    scene.exchanges(scene.served, { connection: 1, heardUpTo: 0 })
    expect(scene.broken).toEqual({ 'early-retry-likely': 1 })
  })

  it('names the smallest number of senders with which it would be none', () => {
    const scene = new Scene()
    times(4, () => scene.exchanges(scene.refusal(10_000)))
    const [found] = scene.ledger.findings.of(['early-retry'])
    expect(found).toMatchObject({ count: 3, otherwise: { senders: 4, rule: 'early-retry-likely' } })
    for (const senders of [3, 4]) {
      const other = new Scene(senders)
      times(4, () => other.exchanges(other.refusal(10_000)))
      expect(other.violations).toEqual(senders === 4 ? [] : ['early-retry'])
      const [likely] = other.ledger.findings.of(['early-retry-likely'])
      expect(likely?.otherwise).toEqual({ senders: 1, rule: 'early-retry' })
    }
  })

  it('is only of the same request', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000, undefined, 503))
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
    expect(scene.broken).toEqual({})
  })

  it('tells of a browser that holds back what React asks for twice', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000))
    scene.exchanges(scene.served, { headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' } })
    expect(scene.ledger.findings.of(['early-retry'])[0]?.message).toMatch(/StrictMode.*that page is two senders\.$/)
  })
})

describe('request-while-limited', () => {
  it('is another request while all senders of the key were told to wait', () => {
    const scene = new Scene(2)
    scene.exchanges(scene.refusal(10_000))
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
    expect(scene.broken).toEqual({})
    scene.exchanges(scene.refusal(10_000), { path: '/pets?limit=2' })
    scene.exchanges(scene.served, { path: '/pets?limit=3' })
    expect(scene.broken).toEqual({ 'request-while-limited': 1 })
    expect(scene.ledger.findings.of(['request-while-limited'])[0]?.otherwise).toEqual({ senders: 3, rule: null })
  })

  it('needs a wait that was for the number of requests: not a 503, nor a rehearsal', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000, 'fault', 503))
    scene.exchanges(scene.refusal(10_000, 'forced'))
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
    scene.exchanges(scene.refusal(10_000), { path: '/pets?limit=2' })
    scene.exchanges(scene.refusal(10_000, 'forced'), { path: '/pets?limit=3' })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })
})

describe('request-while-banned', () => {
  it('is only a request after an answer that told of the ban was received', () => {
    const scene = new Scene()
    const ban = () => scene.refusal(5 * MINUTE_MS, 'ban')
    scene.ends(scene.sends(ban()), 'left')
    scene.exchanges(ban(), { path: '/pets?limit=1' })
    expect(scene.broken).toEqual({})
    scene.exchanges(ban(), { path: '/pets?limit=2' })
    expect(scene.broken).toEqual({ 'request-while-banned': 1 })
    expect(scene.ledger.findings.of(['request-while-banned'])[0]?.otherwise).toEqual({ senders: 2, rule: null })
  })

  it('is none of several senders who each hear of it once', () => {
    const scene = new Scene(3)
    const ban = () => scene.refusal(5 * MINUTE_MS, 'ban', 403)
    times(3, () => scene.exchanges(ban()))
    expect(scene.violations).toEqual([])
    scene.exchanges(ban())
    expect(scene.violations).toEqual(['early-retry', 'request-while-banned'])
  })

  it('is none of who waits the ban out in real time, on a clock that stands still', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(5 * MINUTE_MS, 'ban'))
    scene.wall += 5 * MINUTE_MS
    scene.exchanges(scene.refusal(5 * MINUTE_MS, 'ban'))
    expect(scene.broken).toEqual({})
  })

  it('is none where the ban named no wait', () => {
    const scene = new Scene()
    times(2, () => scene.exchanges({ status: 403, body: '', reason: 'ban', retryAt: scene.now + MINUTE_MS }))
    expect(scene.broken).toEqual({})
  })
})

describe('no-backoff', () => {
  const BROKEN: HandlerResult = { status: 200, body: '', fault: 'connection-reset', reason: 'fault' }
  const UNSAID: HandlerResult = { status: 429, body: '', reason: 'quota-minute', retryAt: NOON + MINUTE_MS }

  it.each([
    ['a 5xx', { status: 503, body: '' }],
    ['a 429 of --retry-after none', UNSAID],
  ])('is a fourth try in a row that follows %s within 100 ms', (_what, answer) => {
    const scene = new Scene()
    times(4, () => {
      scene.exchanges(answer)
      scene.pass(99)
    })
    expect(scene.broken).toEqual({})
    scene.exchanges(answer)
    expect(scene.broken).toEqual({ 'no-backoff': 1 })
  })

  it('is the same after resets, which their clients see', () => {
    const scene = new Scene()
    times(5, () => scene.ends(scene.sends(BROKEN), 'cut'))
    expect(scene.broken).toEqual({ 'no-backoff': 1 })
  })

  it('is nothing where failures were not received, or hang', () => {
    const scene = new Scene()
    times(9, () => scene.ends(scene.sends(scene.failure), 'cut'))
    times(9, () => scene.ends(scene.sends(BROKEN), 'left'))
    times(9, () => scene.ends(scene.sends({ ...BROKEN, fault: 'hang' }), 'left'))
    expect(scene.broken).toEqual({})
  })

  it('begins anew with a try that waited, or was served', () => {
    const scene = new Scene()
    times(4, () => scene.exchanges(scene.failure))
    scene.pass(100)
    times(4, () => scene.exchanges(scene.failure))
    scene.exchanges(scene.served)
    times(4, () => scene.exchanges(scene.failure))
    expect(scene.broken).toEqual({ 'no-backoff': 1 })
    // The one that was served was the fourth in a row.
    expect(scene.ledger.findings.of(['no-backoff'])[0]?.exchanges).toHaveLength(1)
  })

  it('is neither excused nor accused by other requests', () => {
    const scene = new Scene()
    times(5, () => {
      scene.exchanges(scene.failure)
      scene.exchanges(scene.served, { path: '/pets?limit=1' })
      times(3, () => scene.exchanges(scene.failure, { path: `/pets?limit=${scene.position}` }))
    })
    expect(scene.broken).toEqual({ 'no-backoff': 1 })
  })

  it('is measured by whichever clock went further', () => {
    const scene = new Scene()
    times(20, () => {
      scene.exchanges(scene.failure)
      scene.now += 10 * SECOND_MS
    })
    times(20, () => {
      scene.exchanges(scene.failure, { path: '/pets?limit=1' })
      scene.wall += 10 * SECOND_MS
    })
    expect(scene.broken).toEqual({})
  })

  it('is none of senders that fail side by side and each wait', () => {
    const scene = new Scene(8)
    for (let round = 0; round < 30; round++) {
      // Eight of them, 12 ms apart: each comes back 104 ms after its failure.
      times(8, () => {
        scene.exchanges(scene.failure)
        scene.pass(13)
      })
    }
    expect(scene.violations).toEqual([])
  })

  it('is found among senders, too, and says how many would excuse it', () => {
    const count = 40
    const scene = new Scene()
    times(count, () => scene.exchanges(scene.failure))
    const [found] = scene.ledger.findings.of(['no-backoff'])
    const enough = found?.otherwise?.senders ?? 0
    expect(found).toMatchObject({ count: count - 4, otherwise: { rule: null } })
    for (const senders of [2, 8, enough - 1, enough]) {
      const other = new Scene(senders)
      times(count, () => other.exchanges(other.failure))
      expect(other.violations).toEqual(senders === enough ? [] : ['no-backoff'])
    }
  })
})

describe('weak-backoff', () => {
  /** Sends a request, and the same again after each gap. */
  function afterGaps(gaps: readonly number[], senders = 1) {
    const scene = new Scene(senders)
    scene.exchanges(scene.failure)
    for (const gap of gaps) {
      scene.pass(gap)
      scene.exchanges(scene.failure)
    }
    return scene.broken
  }

  it.each([
    ['four gaps are too few', [200, 200, 200, 200], {}],
    ['five that are the same', [200, 200, 200, 200, 200], { 'weak-backoff': 1 }],
    ['five that shrink', [900, 800, 700, 600, 500], { 'weak-backoff': 1 }],
    ['five that grow, one by one', [100, 200, 300, 400, 500], {}],
    ['five with jitter', [100, 300, 150, 700, 900], {}],
    ['up to a cap', [100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000, 2000], {}],
    ['a second and more need not grow', [1000, 1000, 1000, 1000, 1000, 1000], {}],
    ['instant tries are no-backoff instead', [99, 99, 99], {}],
  ])('%s', (_what, gaps, expected) => {
    expect(afterGaps(gaps)).toEqual(expected)
  })

  it('is judged by what one of several senders must have waited', () => {
    expect(
      afterGaps(
        Array.from({ length: 40 }, () => 110),
        2,
      ),
    ).toHaveProperty('weak-backoff')
    expect(
      afterGaps(
        Array.from({ length: 40 }, () => 150),
        8,
      ),
    ).toEqual({})
  })

  it('ends with a minute in which nothing came', () => {
    expect(afterGaps([200, 200, 200, 60_000, 200, 200, 200])).toEqual({})
  })
})

describe('what a browser asks for by itself', () => {
  it.each([
    ['an icon', { path: '/favicon.ico', headers: {} }],
    ['a page', { path: '/v1/pets', headers: { 'sec-fetch-mode': 'navigate', accept: 'text/html' } }],
  ])('%s, is not judged', (_what, { path, headers }) => {
    const scene = new Scene()
    const { request, ...judged } = scene.judged()
    const asked = { ...request, target: path, headers }
    scene.ledger.judge({ ...judged, request: asked }, { status: 401, body: '' }, { id: 1, position: 1 })
    expect(scene.ledger.requests).toBe(0)
  })
})

describe('what is kept', () => {
  it('is bounded, whatever is sent and whatever never ends', () => {
    const scene = new Scene()
    for (let i = 0; i < 12_000; i++) {
      const path = `/pets?limit=${i}`
      scene.sends(scene.refusal(MINUTE_MS), { path, key: `k${i % 1500}`, isStranger: true })
      scene.exchanges(scene.refusal(MINUTE_MS), { path })
      scene.exchanges(scene.failure, { path: `${path}&again` })
    }
    const { keys, pending, findings } = scene.ledger.save()
    expect(pending.length).toBeLessThanOrEqual(10_000)
    expect(keys.length).toBeLessThanOrEqual(1001)
    expect(Math.max(...keys.map(({ waits }) => waits.length))).toBeLessThanOrEqual(200)
    expect(Math.max(...keys.map(({ retries }) => retries.length))).toBeLessThanOrEqual(100)
    expect(findings.length).toBeLessThan(1000)
  })

  it('forgets an answer that was under way at a reset', () => {
    const scene = new Scene()
    const refused = scene.sends(scene.refusal(10_000))
    scene.ledger.clear()
    scene.ends(refused)
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({})
  })
})
