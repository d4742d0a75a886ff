import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { listenLocally } from '../support/listen-locally.js'
import { type OpenSandbox, transports } from '../support/transports.js'

const FROM_BAGGAGE = { spaceFrom: 'baggage' } as const

async function withSpace(openSandbox: OpenSandbox, options: object = FROM_BAGGAGE) {
  const sandbox = await openSandbox(options)
  await sandbox.control('POST', '/reset?space=checkout')
  const send = (baggage: string, key: string | null = 'sandbox') =>
    sandbox.call('/v1/pets', { key, headers: { baggage } })
  const requestsIn = async (space: string) =>
    (await sandbox.control('GET', `/state?space=${space}`)).json.counts as { readonly requests: number }
  const warningsIn = async (space: string) =>
    (await sandbox.control('GET', `/conduct?space=${space}`)).json.warnings as readonly object[]
  return { sandbox, send, requestsIn, warningsIn }
}

describe.each(transports)('with --space-from baggage, %s', (_name, openSandbox) => {
  it('takes the space from the header, or else the default one', async () => {
    const { sandbox, send, requestsIn, warningsIn } = await withSpace(openSandbox)
    expect(await send('user=7, sandbox-space=checkout;ttl=5')).toMatchObject({ status: 200, remaining: 59 })
    expect(await requestsIn('checkout')).toMatchObject({ requests: 1 })
    expect(await requestsIn('')).toMatchObject({ requests: 0 })
    await send('user=7')
    expect(await requestsIn('')).toMatchObject({ requests: 1 })
    expect([...(await warningsIn('checkout')), ...(await warningsIn('')), ...sandbox.warnings]).toEqual([])
  })

  it.each([
    ['sandbox-space=chekout', '"chekout" is not open; open it first, for example with a reset'],
    ['sandbox-space="checkout"', '"\\"checkout\\"" is not a space name'],
    ['sandbox-space=checkout,sandbox-space=other', '"checkout,other" is not a space name'],
  ])('ignores %j, and reports it each time', async (baggage, problem) => {
    const { sandbox, send, requestsIn, warningsIn } = await withSpace(openSandbox)
    await send(baggage)
    await send(baggage)
    const message = `sandbox-space in baggage is ignored: ${problem}.`
    expect(await warningsIn('')).toMatchObject([{ rule: 'unknown-space', count: 2, exchanges: [1, 2], message }])
    expect(sandbox.warnings).toEqual([message])
    expect(await requestsIn('checkout')).toMatchObject({ requests: 0, spaces: 1 })
  })

  it("prefers the key's own space, keeps its sender, and counts requests without a valid key", async () => {
    const { sandbox, send, requestsIn } = await withSpace(openSandbox)
    expect(await send('sandbox-space=checkout', 'sandbox~own')).toMatchObject({ status: 200 })
    expect(await requestsIn('own')).toMatchObject({ requests: 1 })
    expect(await requestsIn('checkout')).toMatchObject({ requests: 0 })
    expect(await send('sandbox-space=checkout', null)).toMatchObject({ status: 401 })
    expect(await send('sandbox-space=checkout', 'wrong')).toMatchObject({ status: 401 })
    expect(await send('sandbox-space=checkout', 'sandbox~+w3')).toMatchObject({ status: 200 })
    const { json } = await sandbox.control('GET', '/requests?space=checkout')
    const request = { headers: { baggage: 'sandbox-space=checkout' } }
    expect(json).toMatchObject([{ key: 'none' }, { key: 'unknown' }, { key: 'sandbox', sender: 'w3', request }])
  })

  it('uses the space of the key only without the option', async () => {
    const { sandbox, send, requestsIn, warningsIn } = await withSpace(openSandbox, {})
    for (const baggage of ['sandbox-space=checkout', 'sandbox-space=%zz']) await send(baggage)
    expect(await requestsIn('')).toMatchObject({ requests: 2 })
    expect([...(await warningsIn('')), ...sandbox.warnings]).toEqual([])
  })
})

describe('an application server with one key that passes baggage on', () => {
  it('keeps 50 concurrent tests apart', async () => {
    const sandbox = await startSandbox({ ...FROM_BAGGAGE, plan: 'enterprise' })
    onTestFinished(() => sandbox.close())
    const application = createServer(async ({ headers: { baggage = '' } }, response) => {
      const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json', baggage: String(baggage) }
      const url = `${sandbox.baseUrl}/pets`
      await fetch(url, { method: 'POST', headers, body: JSON.stringify({ name: baggage, categoryId: 1 }) })
      response.end(await (await fetch(`${url}?limit=1`, { headers })).text())
    })
    const address = await listenLocally(application)
    const names = Array.from({ length: 50 }, (_, index) => `test-${index}`)
    const seen = await Promise.all(
      names.map(async (name) => {
        const space = sandbox.space(name)
        await space.reset()
        const headers = { baggage: `sandbox-space=${name}` }
        const [newest] = (await (await fetch(address, { headers })).json()) as readonly { readonly name: string }[]
        return [newest?.name, (await space.requests()).map(({ operation }) => operation)]
      }),
    )
    expect(seen).toEqual(names.map((name) => [`sandbox-space=${name}`, ['createPet', 'listPets']]))
    expect(await sandbox.requests()).toEqual([])
  })
})
