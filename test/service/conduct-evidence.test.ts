import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/system/system-clock.js'
import { type TestSandbox, transports } from '../support/transports.js'

async function conductOf(sandbox: TestSandbox, space = '') {
  const { json } = await sandbox.control('GET', `/conduct?space=${space}`)
  return json as { senders: number; violations: { rule: string; count: number; sender: string }[]; warnings: unknown[] }
}

const rulesIn = async (sandbox: TestSandbox, space = '') =>
  (await conductOf(sandbox, space)).violations.map(({ rule, count }) => `${rule} ${count}`)

const atOnce = <T>(count: number, act: () => Promise<T>) => Promise.all(Array.from({ length: count }, act))

describe.each(transports)('conduct, %s', (name, openSandbox) => {
  it('finds each early retry of a client that loops on a 429, and the fourth retry on a 503', async () => {
    // An instant retry is detected in real time, which passes on a busy machine.
    const clocks = (['wall', 'monotonic'] as const).map((clock) =>
      vi.spyOn(systemClock, clock).mockReturnValue(systemClock[clock]()),
    )
    onTestFinished(() => clocks.forEach((clock) => void clock.mockRestore()))
    const limited = await openSandbox({ storm: '1,retry-after=60s', banAfter: 'never' })
    for (let i = 0; i < 6; i++) await limited.get('/pets')
    expect(await rulesIn(limited)).toEqual(['early-retry 5'])
    const failing = await openSandbox({ fault: 'listPets:503' })
    // A page has a clock of its own, which goes on: there it takes three tries without a long pause of the machine.
    const isPage = name === 'in Chromium'
    const isFound = async () => (await rulesIn(failing)).some((rule) => /^no-backoff \d+$/.test(rule))
    for (let i = 0; i < 6 || (isPage && !(await isFound())); i++) await failing.get('/pets')
    if (!isPage) expect(await rulesIn(failing)).toEqual(['no-backoff 2'])
  })

  it('neither blames nor bans a client that sends twelve requests at once on a spent quota', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await sandbox.get('/pets')
    const reasons = (await atOnce(12, () => sandbox.get('/pets'))).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(['quota-minute']))
    await sandbox.advance('60s')
    await atOnce(12, () => sandbox.get('/pets'))
    expect(await conductOf(sandbox)).toMatchObject({ senders: 12, violations: [], warnings: [] })
  })

  it('forgets a ban that is lifted by hand', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('PUT', '/keys/sandbox/ban', {})
    expect((await sandbox.get('/pets')).retryAfter).toBe('300')
    await sandbox.control('DELETE', '/keys/sandbox/ban')
    for (let i = 0; i < 5; i++) expect((await sandbox.get('/pets')).status).toBe(200)
    expect(await conductOf(sandbox)).toMatchObject({ violations: [], warnings: [] })
  })

  it.each([
    ['a storm that is stopped', { storm: '1,retry-after=60s' }, ['DELETE', '/storm', undefined]],
    ['a fault that is cleared', { fault: 'listPets:503,retry-after=60s' }, ['DELETE', '/faults', undefined]],
    ['a larger plan', { limits: '1/min,5/day' }, ['PATCH', '/settings', { limits: '100/min,1000/day' }]],
    ['a reset', { limits: '1/min' }, ['POST', '/reset', undefined]],
    ['a clock that is moved', { limits: '1/min' }, ['POST', '/clock/advance', { by: '60s' }]],
  ] as const)('ends the waits of %s', async (_what, options, [method, path, body]) => {
    const sandbox = await openSandbox(options)
    for (let i = 0; i < 2; i++) await sandbox.get('/pets')
    const { violations } = await conductOf(sandbox)
    await sandbox.control(method, path, body)
    await sandbox.get('/pets')
    const before = path === '/reset' ? [] : violations
    expect((await conductOf(sandbox)).violations).toMatchObject(before)
    expect(before.length).toBeLessThanOrEqual(1)
  })
})

describe.each(transports)('the senders of a key, %s', (_name, openSandbox) => {
  it('are one unless stated: at the start, by a setting, for each space; they share quota and ban', async () => {
    const sandbox = await openSandbox({ senders: 3 })
    await sandbox.get('/pets', 'sandbox~one')
    expect(await conductOf(sandbox)).toMatchObject({ senders: 3 })
    await sandbox.control('PATCH', '/settings?space=one', { senders: 5 })
    expect(await conductOf(sandbox, 'one')).toMatchObject({ senders: 5 })
    await sandbox.control('PATCH', '/settings?space=one', { senders: null })
    expect((await sandbox.control('GET', '/settings?space=one')).json).toMatchObject({ senders: null })
    expect(await conductOf(sandbox, 'one')).toMatchObject({ senders: 1 })
    await sandbox.get('/pets', 'sandbox~one+w1')
    await sandbox.control('PUT', '/keys/sandbox/ban?space=one', {})
    expect(await sandbox.get('/pets', 'sandbox~one+w2')).toMatchObject({ reason: 'ban', remaining: 58 })
    const { json: logged } = await sandbox.control('GET', '/requests?space=one&limit=1')
    expect(logged).toMatchObject([{ key: 'sandbox', sender: 'w2' }])
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
