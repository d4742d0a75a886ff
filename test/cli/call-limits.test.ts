import { createServer, type IncomingMessage } from 'node:http'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { fetchControl } from '../../src/client/control-fetch.js'
import { send } from '../../src/client/send.js'
import { listenLocally } from '../support/listen-locally.js'
import { type TestIo, testIo } from './test-io.js'

vi.mock('../../src/client/control-fetch.js', { spy: true })
vi.mock('../../src/client/send.js', { spy: true })

/** Runs `call`. Each look at a control plane takes some time, by the clock of the program, and finds nothing. */
async function limits(line: string, lookMs: number, io: TestIo = testIo()) {
  vi.mocked(fetchControl).mockImplementation(async () => {
    io.pass(lookMs)
    throw new DOMException('It took too long.', 'TimeoutError')
  })
  vi.mocked(send).mockRejectedValue(new TypeError('sent'))
  await runCli(['call', ...line.split(' ')], io)
  const looks = vi.mocked(fetchControl).mock.calls.map(([, , { timeout }]) => timeout)
  return { looks, spent: vi.mocked(send).mock.calls[0]?.[1].spent }
}

beforeEach(() => void vi.clearAllMocks())

describe('the time limit of call', () => {
  const address = '--base-url http://127.0.0.1:9/v1 --key x'

  it('includes the look for a contract', async () => {
    expect(await limits(`listPets --timeout 1s ${address}`, 400)).toEqual({ looks: [500], spent: 400 })
    vi.clearAllMocks()
    expect(await limits(`listPets --timeout=1s ${address}`, 500)).toEqual({ looks: [500], spent: 500 })
    vi.clearAllMocks()
    // A busy machine may be late.
    expect(await limits(`listPets --timeout 1s ${address}`, 5000)).toEqual({ looks: [500], spent: 500 })
  })

  it('is 30 s by default, with 10 for the look', async () => {
    expect(await limits(`listPets ${address}`, 7000)).toEqual({ looks: [10_000], spent: 7000 })
  })
})

describe('the control token', () => {
  /** A server that is not a sandbox. */
  async function program() {
    const seen: IncomingMessage['headers'][] = []
    const server = createServer(({ headers, url }, response) => {
      if (url?.startsWith('/__sandbox')) seen.push(headers)
      response.writeHead(404).end()
    })
    return { origin: await listenLocally(server), seen }
  }

  async function call(line: string, env: Readonly<Record<string, string>>) {
    const { fetchControl: real } = await vi.importActual<typeof import('../../src/client/control-fetch.js')>(
      '../../src/client/control-fetch.js',
    )
    vi.mocked(fetchControl).mockImplementation(real)
    vi.mocked(send).mockRejectedValue(new TypeError('sent'))
    const io = testIo({ env: { PETSTORE_SANDBOX_CONTROL_TOKEN: 'token', ...env } })
    await runCli(['call', ...line.split(' ')], io)
  }

  it('goes to no other program of this machine', async () => {
    const { origin, seen } = await program()
    await call(`listPets --key x --base-url ${origin}/v1`, {})
    await call(`listPets --key x --base-url ${origin}/v1`, { PETSTORE_SANDBOX_URL: 'http://127.0.0.1:9/__sandbox' })
    expect(seen.map(({ authorization }) => authorization)).toEqual([undefined, undefined])
  })

  it('goes to the sandbox that it belongs to, named by its address or not', async () => {
    const { origin, seen } = await program()
    const env = { PETSTORE_SANDBOX_URL: `${origin}/__sandbox` }
    await call(`listPets --key x --base-url ${origin}/v1`, env)
    await call('listPets --key x', env)
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer token', 'Bearer token'])
  })
})
