import { describe, expect, it } from 'vitest'
import { ConductLedger } from '../../src/conduct/conduct-ledger.js'
import type { ConductRule } from '../../src/conduct/conduct-view.js'
import { viewFindings } from '../../src/conduct/finding-views.js'
import type { HandlerResult } from '../../src/domain/messages.js'
import { MINUTE_MS, SECOND_MS } from '../../src/domain/time.js'
import { NOON, openIn, Scene } from './scene.js'

function times(count: number, act: () => void): void {
  for (let i = 0; i < count; i++) act()
}

/** Sends requests at once. */
function burst(scene: Scene, responses: readonly HandlerResult[], path = '/pets'): void {
  const before = scene.position
  const sent = responses.map((response) => scene.sends(response, { path, deliveredUpTo: before }))
  for (const position of sent) scene.ends(position)
}

const first = (scene: Scene, rule: ConductRule) => viewFindings(scene.ledger.findings, [rule])[0]

const BROKEN: HandlerResult = { status: 200, body: '', fault: 'connection-reset', reason: 'fault' }

/** A scene returns the expected number of findings by rule, or nothing. */
const SCENES: Readonly<Record<string, (scene: Scene) => unknown>> = {
  'a wait depends only on positions in process'(scene) {
    scene.ends(scene.sends(scene.refusal(10_000)))
    scene.sends(scene.served)
  },
  'a wait counts from the request, so a late response makes no wait longer'(scene) {
    const refused = scene.sends(scene.refusal(2000))
    scene.pass(1960)
    scene.ends(refused)
    scene.exchanges(scene.served)
  },
  'a wait ends for good when the clock goes back before its start'(scene) {
    scene.pass(MINUTE_MS)
    scene.exchanges(scene.refusal(10_000))
    const pending = scene.sends(scene.refusal(10_000), { path: '/pets?limit=1' })
    scene.ledger.clockMoved(scene.now, NOON, scene.wall)
    scene.now = NOON
    scene.ends(pending)
    scene.exchanges(scene.served)
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
    scene.now = NOON + MINUTE_MS
    scene.exchanges(scene.served)
  },
  "a wait ends when the machine's clock goes back before its start"(scene) {
    times(4, () => scene.exchanges(scene.failure, { path: '/pets?limit=1' }))
    scene.exchanges(scene.refusal(10_000))
    scene.pass(-MINUTE_MS * 60)
    scene.exchanges(scene.served)
    scene.exchanges(scene.failure, { path: '/pets?limit=1' })
  },
  'early-retry is not found after a response that may not have been read'(scene) {
    const refused = scene.sends(scene.refusal(10_000))
    scene.ends(refused)
    scene.ledger.unread(refused)
    scene.exchanges(scene.served)
  },
  'early-retry is found for the same request only'(scene) {
    scene.exchanges(scene.refusal(10_000, undefined, 503))
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
  },
  'early-retry ignores query parameters that the contract does not have'(scene) {
    scene.exchanges(scene.refusal(10_000, undefined, 503), { path: '/pets?_=1&limit=1' })
    scene.exchanges(scene.served, { path: '/pets?limit=2&_=1' })
    scene.exchanges(scene.served, { path: '/pets?limit=1&c%62=2&_=2' })
    return { 'early-retry': 1, 'unknown-parameter': 4 }
  },
  'request-while-banned is not found if the ban has no Retry-After'(scene) {
    times(2, () => scene.exchanges({ status: 403, body: '', reason: 'ban', retryAt: scene.now + MINUTE_MS }))
  },
  'request-while-banned is found once the same User-Agent was told'(scene) {
    const sends = (agent: string, path: string) =>
      scene.exchanges(scene.refusal(5 * MINUTE_MS, 'ban'), { path, headers: { 'user-agent': agent } })
    sends('rude', '/pets')
    sends('polite', '/pets?limit=1')
    sends('rude', '/pets?limit=2')
    return { 'request-while-banned': 1 }
  },
  'no-backoff is measured by the clock that has advanced further'(scene) {
    times(20, () => {
      scene.exchanges(scene.failure)
      scene.now += 10 * SECOND_MS
    })
    times(20, () => {
      scene.exchanges(scene.failure, { path: '/pets?limit=1' })
      scene.wall += 10 * SECOND_MS
    })
  },
  'weak-backoff counts a burst of several waiting senders as one wait'(scene) {
    for (let round = 0; round < 4; round++) {
      const burst = Array.from({ length: 6 }, () => scene.sends(scene.failure, { deliveredUpTo: scene.position }))
      for (const position of burst) scene.ends(position)
      scene.pass(200 * 2 ** round)
    }
  },
  'a wait does not start after a response that was cut or left'(scene) {
    scene.ends(scene.sends(scene.refusal(10_000)), 'cut')
    scene.ends(scene.sends(scene.refusal(10_000)), 'left')
    scene.sends(scene.served, { deliveredUpTo: 99 })
  },
  'a wait continues when the clock goes back to an instant within it'(scene) {
    scene.exchanges(scene.refusal(10_000))
    scene.now += 5000
    scene.ledger.clockMoved(scene.now, scene.now - 1000, scene.wall)
    scene.now -= 1000
    scene.exchanges(scene.served)
    return { 'early-retry': 1 }
  },
  'early-retry is likely if the response may not have been readable'(scene) {
    scene.exchanges(scene.refusal(10_000))
    scene.pass(101)
    scene.sends(scene.served, { deliveredUpTo: 0, sentUpTo: scene.position })
    return { 'early-retry-likely': 1 }
  },
  'early-retry is likely if another User-Agent had received the wait'(scene) {
    scene.exchanges(scene.refusal(10_000), { headers: { 'user-agent': 'one' } })
    scene.pass(101)
    scene.exchanges(scene.served, { headers: { 'user-agent': 'other' } })
    return { 'early-retry-likely': 1 }
  },
  'early-retry is not likely within 100 ms of the first refusal of a burst'(scene) {
    burst(scene, Array(4).fill(scene.served))
    scene.exchanges(scene.refusal(10_000))
    scene.pass(100)
    scene.exchanges(scene.served)
    scene.sends(scene.served, { deliveredUpTo: 0, sentUpTo: scene.position })
  },
  'early-retry is likely among several senders if the connection had received the wait'(scene) {
    burst(scene, Array(4).fill(scene.served))
    scene.exchanges(scene.refusal(10_000), { connection: 1 })
    scene.pass(101)
    scene.exchanges(scene.served, { connection: 2 })
    scene.exchanges(scene.served, { connection: 1 })
    return { 'early-retry-likely': 1 }
  },
  'early-retry finds one sender a minute after requests were in flight at once, by either clock'(scene) {
    for (const [path, byClock, realTime] of [
      ['/pets?limit=1', MINUTE_MS, 0],
      ['/pets?limit=2', 0, MINUTE_MS],
    ] as const) {
      burst(scene, Array(20).fill(scene.served), path)
      scene.pass(byClock, realTime)
      scene.exchanges(scene.refusal(10_000), { path })
      scene.exchanges(scene.served, { path })
      scene.pass(10_000)
    }
    return { 'early-retry': 2 }
  },
  'a loop right after requests were in flight at once is found, on one connection, two, or a new one each time'(scene) {
    for (const [index, connection] of [() => 1, () => 2 - (scene.position % 2), () => scene.position].entries())
      for (const response of [scene.refusal(10_000), scene.failure]) {
        const path = `/pets?limit=${index + 1}&status=${response.status === 429 ? 'sold' : 'pending'}`
        burst(scene, Array(20).fill(scene.served), path)
        times(8, () => {
          scene.exchanges(response, { connection: connection(), path })
          scene.pass(2)
        })
        scene.pass(10_000)
      }
    return { 'early-retry': 12, 'no-backoff': 12 }
  },
  'parallel requests may each be repeated after their own wait, however many senders are stated'(scene) {
    for (const senders of [undefined, 1]) {
      scene.senders = senders
      burst(scene, Array(12).fill(scene.refusal(MINUTE_MS)))
      scene.pass(MINUTE_MS)
      for (const wait of [3000, 5000]) {
        times(12, () => {
          scene.pass(100)
          scene.exchanges(scene.refusal(wait))
        })
        scene.pass(wait - 1200)
      }
      scene.pass(5 * MINUTE_MS)
    }
  },
  'a parallel request that was repeated too early may not be repeated again'(scene) {
    burst(scene, Array(2).fill(scene.refusal(1000)))
    times(3, () => {
      scene.pass(500)
      burst(scene, Array(2).fill(scene.refusal(1000)))
    })
    return { 'early-retry': 6 }
  },
  'parallel requests may each be repeated with a backoff of their own'(scene) {
    scene.senders = 1
    burst(scene, Array(8).fill(scene.failure))
    for (let wait = 200; wait < 2000; wait *= 2) {
      scene.pass(wait / 2)
      times(8, () => {
        scene.exchanges(scene.failure)
        scene.pass(wait / 16)
      })
    }
  },
  'request-while-limited requires a quota or storm refusal, not a 503 or a forced 429'(scene) {
    scene.exchanges(scene.refusal(10_000, 'fault', 503))
    scene.exchanges(scene.refusal(10_000, 'forced'))
    scene.exchanges(scene.served, { path: '/pets?limit=1' })
    scene.exchanges(scene.refusal(10_000), { path: '/pets?limit=2' })
    scene.exchanges(scene.refusal(10_000, 'forced'), { path: '/pets?limit=3' })
    return { 'early-retry': 1 }
  },
  'no-backoff counts resets, which clients notice'(scene) {
    times(5, () => scene.ends(scene.sends(BROKEN, { deliveredUpTo: scene.position }), 'cut'))
    return { 'no-backoff': 1 }
  },
  'no-backoff ignores failures that were not received, and hangs'(scene) {
    times(9, () => scene.ends(scene.sends(scene.failure), 'cut'))
    times(9, () => scene.ends(scene.sends(BROKEN), 'left'))
    times(9, () => scene.ends(scene.sends({ ...BROKEN, fault: 'hang' }), 'left'))
  },
  'no-backoff is independent of other requests'(scene) {
    times(5, () => {
      scene.exchanges(scene.failure)
      scene.exchanges(scene.served, { path: '/pets?limit=1' })
      times(3, () => scene.exchanges(scene.failure, { path: `/pets?limit=${scene.position}` }))
    })
    return { 'no-backoff': 1 }
  },
  "the ledger's memory forgets a response that was under way at a reset"(scene) {
    const refused = scene.sends(scene.refusal(10_000))
    scene.ledger = new ConductLedger([])
    scene.ends(refused)
    scene.exchanges(scene.served)
  },
}

it.each(Object.entries(SCENES))('%s', (_what, act) => {
  const scene = new Scene()
  const found = act(scene) ?? {}
  expect(scene.broken).toEqual(found)
})

describe('a wait', () => {
  it('starts when its response has been sent completely', () => {
    const scene = new Scene(1)
    const refused = scene.sends(scene.refusal(10_000))
    scene.sends(scene.served, { deliveredUpTo: 99 })
    expect(scene.broken).toEqual({})
    scene.ends(refused)
    scene.sends(scene.served, { deliveredUpTo: 99 })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('applies to later requests on its connection, and on those opened after its response', () => {
    const scene = new Scene(1)
    scene.ends(scene.sends(scene.refusal(10_000), { connection: 7 }))
    const endedAt = scene.position
    scene.sends(scene.served, { connection: 8 })
    scene.sends(scene.served, { connection: 8, deliveredUpTo: endedAt - 1 })
    expect(scene.broken).toEqual({})
    scene.sends(scene.served, { connection: 9, deliveredUpTo: endedAt })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
    scene.sends(scene.served, { connection: 7 })
    expect(scene.broken).toEqual({ 'early-retry': 2 })
  })

  it.each([
    ['by the clock', (scene: Scene, by: number) => scene.pass(by, 0)],
    ['in real time', (scene: Scene, by: number) => scene.pass(0, by)],
    ['by both', (scene: Scene, by: number) => scene.pass(by)],
  ])('ends %s, with 50 ms of tolerance', (_how, pass) => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000))
    pass(scene, 9950)
    scene.exchanges(scene.refusal(10_000))
    expect(scene.broken).toEqual({})
    pass(scene, 9949)
    scene.exchanges(scene.served)
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('applies to its own key only, known or unknown', () => {
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
  it.each([1, 2, 8])('finds a request while all of %i senders have a wait running', (senders) => {
    const scene = new Scene(senders)
    // Each sender is refused once.
    times(senders, () => scene.exchanges(scene.refusal(10_000)))
    expect(scene.violations).toEqual([])
    scene.exchanges(scene.refusal(10_000))
    expect(scene.violations).toEqual(['early-retry'])
  })

  it('requires as many waits as requests in flight at once by default, and is likely with fewer', () => {
    const scene = new Scene()
    const two = [scene.sends(scene.served), scene.sends(scene.served)]
    for (const position of two) scene.ends(position)
    scene.exchanges(scene.refusal(10_000))
    scene.pass(101)
    scene.exchanges(scene.refusal(10_000))
    expect(scene.broken).toEqual({ 'early-retry-likely': 1 })
    scene.exchanges(scene.refusal(10_000))
    expect(scene.broken).toEqual({ 'early-retry-likely': 1, 'early-retry': 1 })
    expect(scene.ledger.mostSenders).toBe(2)
  })

  it('is not found for a request that was under way when the refusal was sent', () => {
    const scene = new Scene()
    const before = scene.position
    scene.exchanges(scene.refusal(10_000))
    scene.sends(scene.refusal(10_000), { deliveredUpTo: before })
    expect(scene.broken).toEqual({})
    expect(scene.ledger.mostSenders).toBe(2)
  })

  it('is judged per named sender, as one sender', () => {
    const scene = new Scene(8)
    for (const sender of ['w1', 'w2', 'w3']) scene.exchanges(scene.refusal(10_000), { sender })
    expect(scene.broken).toEqual({})
    scene.exchanges(scene.served, { sender: 'w2' })
    expect(first(scene, 'early-retry')).toMatchObject({ key: 'sandbox', sender: 'w2', count: 1 })
    expect(scene.broken).toEqual({ 'early-retry': 1 })
  })

  it('ignores running waits whose responses the sender cannot have received', () => {
    const scene = new Scene(2)
    scene.exchanges(scene.refusal(10_000), { connection: 1 })
    scene.exchanges(scene.refusal(10_000), { connection: 2, deliveredUpTo: 0 })
    scene.exchanges(scene.served, { connection: 1, deliveredUpTo: 0 })
    expect(scene.broken).toEqual({})
  })

  it('has the smallest number of senders for which it is allowed', () => {
    const scene = new Scene()
    times(4, () => scene.exchanges(scene.refusal(10_000)))
    const found = first(scene, 'early-retry')
    expect(found).toMatchObject({ count: 3, otherwise: { senders: 4 } })
    for (const senders of [3, 4]) {
      const other = new Scene(senders)
      times(4, () => other.exchanges(other.refusal(10_000)))
      expect(other.violations).toEqual(senders === 4 ? [] : ['early-retry'])
    }
  })

  it.each([
    ['is likely if senders come back when their waits are over', [1, 2, 1, 2], 2000, 'early-retry-likely'],
    ['is likely if they do so three times on new connections', [1, 2, 3, 4, 5], 2000, 'early-retry-likely'],
    ['is certain if they do so twice', [1, 2, 3, 4], 2000, 'early-retry'],
    ['is certain if they come back later', [1, 2, 3, 4, 5, 6], 1700, 'early-retry'],
    ['is certain on one connection', [1, 1, 1, 1, 1, 1, 1], 2000, 'early-retry'],
    ['is certain if they come back at other times', [1, 2, 1, 2, 1, 2], 9000, 'early-retry'],
  ] as const)('%s', (_how, connections, wait, rule) => {
    const scene = new Scene()
    for (const connection of connections) {
      scene.exchanges(scene.refusal(wait), { connection })
      scene.pass(1010)
    }
    expect(Object.keys(scene.broken)).toEqual([rule])
    const { message, otherwise } = first(scene, rule) ?? {}
    expect(message).toContain(`use --senders ${otherwise?.senders}.`)
  })

  it('mentions a browser that delays a repeated GET', () => {
    const scene = new Scene()
    scene.exchanges(scene.refusal(10_000))
    scene.exchanges(scene.served, { headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' } })
    expect(first(scene, 'early-retry')?.message).toMatch(/StrictMode.*count such a page as two senders\./)
  })
})

it('request-while-limited finds another request while all senders of the key have to wait', () => {
  const scene = new Scene(2)
  scene.exchanges(scene.refusal(10_000))
  scene.exchanges(scene.served, { path: '/pets?limit=1' })
  expect(scene.broken).toEqual({})
  scene.exchanges(scene.refusal(10_000), { path: '/pets?limit=2' })
  scene.exchanges(scene.served, { path: '/pets?limit=3' })
  expect(scene.broken).toEqual({ 'request-while-limited': 1 })
  expect(first(scene, 'request-while-limited')?.otherwise).toEqual({ senders: 3 })
})

it("request-while-banned finds only requests after the ban's response was received", () => {
  const scene = new Scene()
  const ban = () => scene.refusal(5 * MINUTE_MS, 'ban')
  scene.ends(scene.sends(ban()), 'left')
  scene.exchanges(ban(), { path: '/pets?limit=1' })
  expect(scene.broken).toEqual({})
  scene.exchanges(ban(), { path: '/pets?limit=2' })
  expect(scene.broken).toEqual({ 'request-while-banned': 1 })
  expect(first(scene, 'request-while-banned')?.otherwise).toEqual({ senders: 2 })
})

describe('no-backoff', () => {
  it.each<[string, HandlerResult]>([
    ['a 5xx', { status: 503, body: '' }],
    ['a 429 of --retry-after none', { status: 429, body: '', reason: 'quota-minute', retryAt: NOON + MINUTE_MS }],
  ])('finds a fourth try in a row within 100 ms after %s', (_what, response) => {
    const scene = new Scene()
    times(4, () => {
      scene.exchanges(response)
      scene.pass(99)
    })
    expect(scene.broken).toEqual({})
    scene.exchanges(response)
    expect(scene.broken).toEqual({ 'no-backoff': 1 })
  })

  it('restarts after a try that waited or was served', () => {
    const scene = new Scene()
    times(4, () => scene.exchanges(scene.failure))
    scene.pass(100)
    times(4, () => scene.exchanges(scene.failure))
    scene.exchanges(scene.served)
    times(4, () => scene.exchanges(scene.failure))
    expect(scene.broken).toEqual({ 'no-backoff': 1 })
    // The one that was served was the fourth in a row.
    expect(first(scene, 'no-backoff')?.exchanges).toHaveLength(1)
  })

  it('is likely if the sandbox was too slow to recognize instant tries', () => {
    const scene = new Scene()
    times(6, () => {
      scene.ends(scene.sends(scene.failure, { deliveredUpTo: scene.position }), 'sent', 60)
      scene.pass(130)
    })
    expect(scene.broken).toMatchObject({ 'no-backoff-likely': 2 })
    expect(scene.violations).toEqual([])
  })

  it('is found among several senders, with the number for which it is allowed', () => {
    const count = 40
    const scene = new Scene()
    times(count, () => scene.exchanges(scene.failure))
    const found = first(scene, 'no-backoff')
    const enough = found?.otherwise?.senders ?? 0
    expect(found).toMatchObject({ count: count - 4 })
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
    ['a shorter wait begins a new series', [150, 300, 600, 150, 300, 600, 150, 300, 600], {}],
    ['equal except for timer inaccuracy', [200, 205, 198, 202, 199], { 'weak-backoff': 1 }],
    ['five that grow, one by one', [100, 200, 300, 400, 500], {}],
    ['five with jitter', [100, 300, 150, 700, 900], {}],
    ['up to a cap', [100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000, 2000], {}],
    ['a second and more need not grow', [1000, 1000, 1000, 1000, 1000, 1000], {}],
    ['instant tries are no-backoff instead', [99, 99, 99], {}],
    ['a minute without requests ends a series', [200, 200, 200, 60_000, 200, 200, 200], {}],
  ])('%s', (_what, gaps, expected) => expect(afterGaps(gaps)).toEqual(expected))

  it('is judged by the wait of one of several senders', () => {
    expect(afterGaps(Array(40).fill(110), 2)).toHaveProperty('weak-backoff')
    expect(afterGaps(Array(40).fill(150), 8)).toEqual({})
  })
})

describe("the ledger's memory", () => {
  it('is bounded, even if responses never end', () => {
    const scene = new Scene()
    for (let i = 0; i < 12_000; i++) {
      const path = `/pets?limit=${i}`
      scene.sends(scene.refusal(MINUTE_MS), { path, key: `k${i % 1500}`, isStranger: true })
      scene.exchanges(scene.refusal(MINUTE_MS), { path })
      scene.exchanges(scene.failure, { path: `${path}&again` })
    }
    const keys = scene.ledger.keys()
    const senders = keys.flatMap((key) => [...key.senders.values()])
    expect(openIn(scene.ledger)).toBeLessThanOrEqual(10_000)
    expect(keys.length).toBeLessThanOrEqual(1001)
    expect(Math.max(...senders.map(({ waits }) => waits.length))).toBeLessThanOrEqual(200)
    expect(Math.max(...senders.map(({ ready }) => ready.length))).toBeLessThanOrEqual(200)
    expect(Math.max(...senders.map(({ retries }) => retries.size))).toBeLessThanOrEqual(100)
    expect(Math.max(...senders.map(({ overlaps }) => overlaps.size))).toBeLessThanOrEqual(100)
    expect(scene.ledger.findings.groups.length).toBeLessThan(1000)
  })
})
