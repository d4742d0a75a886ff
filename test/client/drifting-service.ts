import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { openService } from '../../src/client/exchange.js'
import { type Check, type VerifyOptions, verify } from '../../src/client/verify/verify.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { readResponseRules } from '../../src/contract/response-rules.js'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { listenLocally } from '../support/listen-locally.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

export interface Came {
  readonly method: string
  /** With the query: `/v1/pets?limit=2`. */
  readonly url: string
  readonly key: string | undefined
  readonly body: string
}

export interface Goes {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

/** Changes a response before it is sent; `drop` cuts the connection instead. */
export type Drift = (came: Came, goes: Goes) => Goes | 'drop' | undefined

/** A service of its own that does as the sandbox does, but for one drift. Gone after the test. */
export async function driftingService(drift: Drift = () => undefined, options: SandboxOptions = {}) {
  const plan = options.spec === undefined ? { plan: 'business' } : {}
  const sandbox = await createSandbox({ ...plan, seed: 1, ...options })
  const came: Came[] = []
  const server = createServer((request, response) => {
    reply(request, response).catch((error: unknown) => response.destroy(Object(error)))
  })

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const { host: _, connection: __, ...forwarded } = headers as Readonly<Record<string, string>>
    const init = { method, headers: forwarded, ...(body !== '' && { body }) }
    const faithful = await sandbox.fetch(new URL(url, sandbox.baseUrl), init)
    const one = { method, url, key: headers.authorization?.replace(/^Bearer /, ''), body }
    came.push(one)
    const { status, headers: given } = faithful
    const plain: Goes = { status, headers: Object.fromEntries(given), body: await faithful.text() }
    const changed = drift(one, plain) ?? plain
    if (changed === 'drop') {
      request.socket.destroy()
      return
    }
    delete changed.headers['content-length']
    response.writeHead(changed.status, changed.headers).end(changed.body)
  }

  onTestFinished(() => sandbox.close())
  return { baseUrl: `${await listenLocally(server)}${new URL(sandbox.baseUrl).pathname}`, came, sandbox }
}

/** Changes some of the responses. */
export function change(where: (came: Came) => boolean, act: (goes: Goes, came: Came) => void): Drift {
  return (came, goes) => {
    if (where(came)) act(goes, came)
    return goes
  }
}

/** Compiled once: that takes longer than a run of `verify`. */
const packagedRules = readResponseRules(packagedContract(), 'native')

/** Verifies a service with a drift; waits pass on its clock. */
export async function verified(drift?: Drift, given: Partial<VerifyOptions> = {}, options: SandboxOptions = {}) {
  const { baseUrl, came, sandbox } = await driftingService(drift, options)
  const service = await openService(baseUrl, {}, { timeout: STEP_PATIENCE_MS, maxBody: 2 ** 24 })
  onTestFinished(() => service.close())
  const waits: number[] = []
  const { contract = packagedContract() } = given
  const rules = await (given.contract === undefined ? packagedRules : readResponseRules(contract, 'native'))
  const { checks, notes } = await verify({
    ...{ contract, rules, service, basePath: contract.basePath, apiKey: 'sandbox', writes: false },
    wait: async (milliseconds) => {
      waits.push(milliseconds)
      await sandbox.clock.advance(`${Math.ceil(milliseconds)}ms`)
    },
    ...given,
  })
  const outcomes = (wanted: Check['outcome']) => checks.filter(({ outcome }) => outcome === wanted).map(checkText)
  return { checks, notes, came, waits, drifts: outcomes('drift'), skipped: outcomes('skipped') }
}

/** `listPets, two-newest: the problem` */
export function checkText({ operation, name, details }: Check): string {
  return `${operation}, ${name}: ${details.join('; ')}`
}
