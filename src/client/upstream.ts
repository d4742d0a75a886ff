import { isAscii } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { KeyHeader } from '../contract/contract-data.js'
import { type Bytes, MIB } from '../domain/numbers.js'
import { placeKey } from '../domain/other-key-places.js'
import { isBearer } from '../domain/request-headers.js'
import type { DurationMs } from '../domain/time.js'
import type { Upstream, UpstreamFailure, UpstreamOutcome, UpstreamRequest, UpstreamWrites } from '../domain/upstream.js'
import { messageOf } from '../system/message-of.js'
import type { Environment } from '../system/this-process.js'
import { readKeyFile } from './api-key.js'
import { openDispatcher } from './dispatcher.js'
import { exchangeOnce } from './exchange.js'
import { isDropped, isUnsent, NoResponseError } from './no-response.js'

export interface UpstreamOptions {
  readonly baseUrl: string
  readonly keyHeader: KeyHeader
  readonly apiKeyFile: string | undefined
  readonly writes: UpstreamWrites
  readonly timeout: DurationMs
  readonly env: Environment
  warn(message: string): void
}

const MAX_RESPONSE: Bytes = 16 * MIB
/** Servers drop connections that were idle: a read is sent again. */
const MAX_READ_ATTEMPTS = 2
const IDLE_MS: DurationMs = 4000
/** Browsers open 6 to a host and proxies a few dozen; each takes a file descriptor. */
const MAX_CONNECTIONS = 64
const MAX_WAITING = 1000

/** Does not follow redirects: the key reaches no other host. @throws TargetError (key file, proxy) */
export async function openUpstream({
  baseUrl,
  keyHeader,
  apiKeyFile,
  writes,
  timeout,
  env,
  warn,
}: UpstreamOptions): Promise<Upstream> {
  const where = `--upstream-api-key-file ${JSON.stringify(apiKeyFile)}`
  const key = apiKeyFile === undefined ? undefined : await readKeyFile(apiKeyFile, where)
  const { dispatcher, proxy } = await openDispatcher(baseUrl, env, { idle: IDLE_MS, connections: MAX_CONNECTIONS })
  const { origin, pathname } = new URL(baseUrl)
  const basePath = pathname.replace(/\/+$/, '')
  const ownKey = key === undefined ? undefined : `Bearer ${key}`
  /** Recognizes a request that the upstream sends back to this sandbox. */
  const via = `1.1 petstore-sandbox-${randomBytes(8).toString('hex')}`
  let pending = 0
  let isKeyRefused = false

  async function request(
    { method, target, headers, body, isKnown, authorization: sent, keyPlace, credentials = '' }: UpstreamRequest,
    signal: AbortSignal | undefined,
  ): Promise<UpstreamOutcome> {
    const all = [...headers, 'accept-encoding', 'gzip, br', 'via', via]
    const authorization = isKnown ? ownKey : sent
    const token = authorization?.replace(/^bearer +/i, '')
    const [path, ...header] =
      token === undefined
        ? [target]
        : keyPlace === undefined
          ? [target, keyHeader.name.toLowerCase(), isBearer(keyHeader) ? (authorization ?? '') : token]
          : placeKey(token, keyPlace, target, credentials)
    all.push(...header)
    const raw = await exchangeOnce(
      dispatcher,
      { origin, path: basePath + path, method: method as 'GET', headers: all, body: body ?? null },
      { timeout, maxBody: MAX_RESPONSE, signal },
    )
    const binary = raw.body.toString('latin1')
    // ASCII is the same in both encodings, and need not be kept twice.
    const text = isAscii(raw.body) ? binary : raw.body.toString()
    return { kind: 'response', status: raw.status, headers: raw.headers, body: text, binary }
  }

  async function send(sent: UpstreamRequest, left: AbortSignal | undefined): Promise<UpstreamOutcome> {
    const { method } = sent
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(sent, left)
      } catch (error) {
        const mayHaveRun = method !== 'GET' && !isUnsent(error)
        if (left?.aborted === true) return { kind: 'left', isOpen: mayHaveRun }
        if (method === 'GET' && attempt < MAX_READ_ATTEMPTS && isDropped(error)) continue
        const { problem, message } = failureOf(error)
        return failure(
          problem,
          mayHaveRun ? `${message} The ${method} may have been carried out all the same.` : message,
        )
      }
    }
  }

  function failureOf(error: unknown): UpstreamFailure {
    try {
      const { message, failure: code, hint, isUntrusted } = NoResponseError.from(error, { url: origin, timeout, proxy })
      if (code === 'TIMEOUT') return failure('upstream_timeout', `${message}. Allow more time with --upstream-timeout.`)
      const isInvalid = /^(?:TOO_LARGE$|MALFORMED$|UNDECODABLE$|HPE_|UND_ERR_RES|UND_ERR_HEADERS_OVERFLOW$)/.test(code)
      return failure(
        isInvalid ? 'upstream_invalid' : 'upstream_unreachable',
        isUntrusted ? `${message}. ${hint}` : `${message}.`,
      )
    } catch {
      return failure('upstream_invalid', `The response of ${origin} cannot be read: ${messageOf(error)}.`)
    }
  }

  function warnOfRefusedKey(): void {
    if (isKeyRefused) return
    isKeyRefused = true
    warn(`${baseUrl} refused the key in ${where} with 401. Put a valid key into that file and restart.`)
  }

  return {
    baseUrl,
    writes,
    hasKey: key !== undefined,
    secrets: key === undefined ? [] : [key],
    async send(sent, left) {
      if (sent.via.includes(via)) return failure('upstream_invalid', LOOP)
      if (pending >= MAX_CONNECTIONS + MAX_WAITING) return failure('upstream_busy', BUSY)
      pending++
      try {
        const outcome = await send(sent, left)
        if (key !== undefined && sent.isKnown && outcome.kind === 'response' && outcome.status === 401)
          warnOfRefusedKey()
        return outcome
      } finally {
        pending--
      }
    },
    close: () => dispatcher.destroy(),
  }
}

const LOOP = 'The service behind this sandbox leads back to it. Name another one with --upstream.'
const BUSY = `${MAX_CONNECTIONS} requests to the service behind this sandbox are open and ${MAX_WAITING} more are waiting. Send fewer at once.`

function failure(problem: UpstreamFailure['problem'], message: string): UpstreamFailure {
  return { kind: 'failure', problem, message }
}
