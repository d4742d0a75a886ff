import { describe, expect, onTestFinished } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { test } from '../../src/vitest/index.js'

const it = test

async function sandboxWith(requests: readonly (readonly [method: string, body?: object])[], options = {}) {
  const sandbox = await createSandbox({ freeze: true, ...options })
  onTestFinished(() => sandbox.close())
  for (const [method, body] of requests) await requestTo(sandbox, method, body)
  return sandbox
}

async function requestTo(sandbox: Awaited<ReturnType<typeof createSandbox>>, method: string, body?: object) {
  const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const headers = { authorization: 'Bearer sandbox', ...json?.headers }
  await (await sandbox.fetch(`${sandbox.baseUrl}/pets`, { method, ...json, headers })).text()
}

const toMessage = ({ message }: Error) => message
const messageOf = (assertion: Promise<void>) => assertion.then(() => 'passed', toMessage)

const REX = { name: 'Rex', categoryId: 1 }
const TOM = { name: 'Tom', categoryId: 2 }

describe('toHaveReceived', () => {
  it('compares the named fields of the body, and the number of such requests', async () => {
    const sandbox = await sandboxWith([REX, TOM, TOM].map((body) => ['POST', body]))
    await expect(sandbox).toHaveReceived('createPet', { times: 1, body: { name: 'Rex' } })
    await expect(sandbox).toHaveReceived('createPet', { times: 2, body: { name: expect.stringMatching('^T') } })
    await expect(sandbox).toHaveReceived('createPet', { times: 3 })
    await expect(sandbox).not.toHaveReceived('createPet', { times: 2 })
    await expect(sandbox).not.toHaveReceived('listPets')
    await expect(sandbox).toHaveReceived('listPets', { times: 0 })
  })

  it('names the requests that it received, and how the last body differs', async () => {
    const sandbox = await sandboxWith([['GET'], ['POST', REX]])
    const message = await messageOf(expect(sandbox).toHaveReceived('createPet', { times: 2, body: { name: 'Tom' } }))
    expect(message).toContain('Expected exactly 2 requests of createPet with this body, but the sandbox received 0.\n')
    expect(message).toContain('The requests of createPet:\n  #2 POST /v1/pets → 201 (sandbox)\n')
    expect(message).toMatch(/How the body of #2 differs:\n[\s\S]*-.*"name": "Tom"[\s\S]*\+.*"name": "Rex"/)
    expect(message).not.toContain('categoryId')
    expect(await messageOf(expect(sandbox).not.toHaveReceived('listPets'))).toBe(
      'Expected no request of listPets, but the sandbox received 1.\nThe requests of listPets:\n  #1 GET /v1/pets → 200 (sandbox)',
    )
  })

  it('lists all requests if none is of the operation, and the last ten of many', async () => {
    const sandbox = await sandboxWith([['GET']])
    expect(await messageOf(expect(sandbox).toHaveReceived('createPet'))).toBe(
      'Expected at least 1 request of createPet, but the sandbox received 0.\nThe requests:\n  #1 GET /v1/pets → 200 (sandbox)',
    )
    for (let i = 0; i < 11; i++) await requestTo(sandbox, 'GET')
    const message = await messageOf(expect(sandbox).toHaveReceived('createPet'))
    expect(message).toContain('The requests, the last 10 of 12:\n  #3 ')
  })

  it('refuses an unknown operation and a status that is not a number, also negated', async () => {
    const sandbox = await sandboxWith([['GET']])
    const unknown = '"createPets" is not an operation. Use one of: listPets, createPet, getPet, listOrders.'
    for (const assertion of [expect(sandbox), expect(sandbox).not]) {
      expect(await messageOf(assertion.toHaveReceived('createPets'))).toBe(unknown)
      expect(await messageOf(assertion.toHaveServed(429, { operation: 'createPets' }))).toBe(unknown)
      const message = '"4xx" is not a status. Use a number such as 429.'
      expect(await messageOf(assertion.toHaveServed('4xx' as never))).toBe(message)
    }
  })

  it('refuses unknown options, and a number of times that is none, also negated', async () => {
    const sandbox = await sandboxWith([['GET']])
    for (const assertion of [expect(sandbox), expect(sandbox).not]) {
      const message = await messageOf(assertion.toHaveReceived('listPets', { time: 99 } as never))
      expect(message).toBe('"time" is not an option. Use one of: times, body.')
      expect(await messageOf(assertion.toHaveServed(200, { body: {} } as never))).toContain(
        'Use one of: times, operation.',
      )
      expect(await messageOf(assertion.toHaveServed(200, { times: '1' } as never))).toBe(
        '"1" is not a number of times. Use a number such as 1.',
      )
    }
  })

  it('fails if the log has dropped requests that decide, also negated', async () => {
    const sandbox = await sandboxWith([['POST', REX], ...Array.from({ length: 10 }, () => ['GET'] as const)], {
      logLimit: 5,
    })
    const unknown =
      'The log has only the last 5 of 11 requests. Keep more with logLimit (--log-limit), or call requests.clear() first.'
    for (const assertion of [expect(sandbox), expect(sandbox).not]) {
      expect(await messageOf(assertion.toHaveReceived('createPet'))).toBe(unknown)
      expect(await messageOf(assertion.toHaveReceived('listPets', { times: 10 }))).toBe(unknown)
      expect(await messageOf(assertion.toHaveServed(201))).toBe(unknown)
    }
    await expect(sandbox).toHaveReceived('listPets')
    await expect(sandbox).not.toHaveReceived('listPets', { times: 4 })
    await expect(sandbox).toHaveServed(200)
  })

  it('fails if the log has only the beginning of a body that decides, also negated', async () => {
    const note = 'ü'.repeat(33_000)
    const sandbox = await sandboxWith([
      ['POST', { ...REX, note }],
      ['POST', TOM],
    ])
    const unknown = 'The log has only the beginning of the body of #1, so "body" cannot be compared with it.'
    for (const assertion of [expect(sandbox), expect(sandbox).not]) {
      expect(await messageOf(assertion.toHaveReceived('createPet', { body: { name: 'Rex' } }))).toBe(unknown)
      expect(await messageOf(assertion.toHaveReceived('createPet', { times: 1, body: TOM }))).toBe(unknown)
    }
    await expect(sandbox).toHaveReceived('createPet', { body: TOM })
    await expect(sandbox).toHaveReceived('createPet', { times: 2 })
  })

  it('works on a space, and refuses anything else', async ({ sandbox }) => {
    await expect(sandbox).not.toHaveReceived('listPets')
    await expect(expect({}).toHaveReceived('listPets')).rejects.toThrow('takes a sandbox')
  })
})

describe('toHaveServed', () => {
  it('counts responses with a status, of all operations or one', async () => {
    const sandbox = await sandboxWith([['GET'], ['GET']], { limits: '1/min' })
    await expect(sandbox).toHaveServed(429)
    await expect(sandbox).toHaveServed(200, { times: 1, operation: 'listPets' })
    await expect(sandbox).not.toHaveServed(429, { operation: 'createPet' })
    expect(await messageOf(expect(sandbox).toHaveServed(201))).toBe(
      'Expected at least 1 response with status 201, but the sandbox sent 0.\nThe requests:\n' +
        '  #1 GET /v1/pets → 200 (sandbox)\n  #2 GET /v1/pets → 429, quota-minute (sandbox)',
    )
  })
})

describe('toHaveBehaved', () => {
  it('passes if there were requests without a violation', async () => {
    await expect(await sandboxWith([['GET']])).toHaveBehaved()
  })

  it('fails without any request, also negated', async () => {
    const sandbox = await sandboxWith([])
    for (const assertion of [expect(sandbox), expect(sandbox).not])
      expect(await messageOf(assertion.toHaveBehaved())).toContain('No request reached this space')
  })

  it('names each violation with its exchanges', async () => {
    const sandbox = await sandboxWith([['GET'], ['GET'], ['GET'], ['GET']], { limits: '1/min' })
    await expect(sandbox).not.toHaveBehaved()
    expect(await messageOf(expect(sandbox).toHaveBehaved())).toMatch(
      /^Clients violated the service's rules:\n {2}early-retry: GET .+\n {4}By the key sandbox, in the exchanges #\d/,
    )
  })
})

describe('waitForRequest', () => {
  it('returns a request that has come, and one that comes later', async () => {
    const sandbox = await sandboxWith([['GET']])
    expect((await sandbox.waitForRequest({ operation: 'listPets' })).id).toBe(1)
    const waiting = sandbox.waitForRequest({ operation: 'createPet', status: 201 })
    await requestTo(sandbox, 'POST', REX)
    expect(await waiting).toMatchObject({ id: 2, status: 201 })
  })

  it('names the requests that have come when the time is over, also in a space that was never opened', async () => {
    const sandbox = await sandboxWith([['GET']])
    const message = 'No request matched {"status":503} within 1ms. The requests:\n  #1 GET /v1/pets → 200 (sandbox)'
    const late = sandbox.waitForRequest({ status: 503 }, { timeout: '1ms' })
    await expect(late).rejects.toMatchObject({ code: 'timeout', message })
    await expect(sandbox.space('new').waitForRequest({}, { timeout: '1ms' })).rejects.toThrow('There are no requests.')
    await expect(sandbox.waitForRequest({}, { timeout: 'long' as '1s' })).rejects.toThrow('must be a duration')
  })
})

describe('toHaveViolated', () => {
  it('passes for a broken rule and excuses it, so that the sandbox counts as well used', async () => {
    const sandbox = await sandboxWith([['POST', {}], ['GET']])
    await expect(sandbox).not.toHaveViolated('early-retry')
    await expect(sandbox).toHaveViolated('invalid-request')
    await expect(sandbox).toHaveBehaved()
    expect(await messageOf(expect(sandbox).toHaveViolated('invalid-request'))).toBe(
      'Expected invalid-request, but clients broke no rule.',
    )
    await requestTo(sandbox, 'POST', {})
    expect(await messageOf(expect(sandbox).not.toHaveViolated('invalid-request'))).toMatch(
      /^Expected no invalid-request/,
    )
    expect((await sandbox.conduct()).violations).toMatchObject([{ rule: 'invalid-request', count: 1 }])
  })
})

it('toHaveViolated fails without any request, also negated', async () => {
  const sandbox = await sandboxWith([])
  for (const assertion of [expect(sandbox), expect(sandbox).not])
    expect(await messageOf(assertion.toHaveViolated('early-retry'))).toContain('No request reached this space')
})

it('toHaveViolated refuses what is no violation, such as a warning, also negated', async () => {
  const sandbox = await sandboxWith([['GET']])
  for (const assertion of [expect(sandbox), expect(sandbox).not])
    for (const rule of ['early-rety', 'weak-backoff'])
      expect(await messageOf(assertion.toHaveViolated(rule as never))).toMatch(
        new RegExp(`^"${rule}" is not a violation\\. Use one of: early-retry, no-backoff, `),
      )
})

it('expectViolation fails if there was none, and names the rules that were broken', async () => {
  const sandbox = await sandboxWith([['POST', {}]])
  await expect(sandbox.expectViolation('early-retry')).rejects.toThrow(
    'No early-retry in this space so far. Broken rules: invalid-request. Call this after the request.',
  )
  expect(await sandbox.expectViolation('invalid-request')).toEqual({ rule: 'invalid-request', excused: 1 })
})
