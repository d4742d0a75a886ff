import { isAscii } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { Failure } from '../domain/failures.js'
import { type Bytes, formatSize, MIB } from '../domain/size.js'
import { type DurationMs, formatDuration } from '../domain/time.js'
import type { Forward, UpstreamFailure, UpstreamOutcome } from '../domain/upstream.js'
import type { Environment } from '../system/environment.js'
import { messageOf } from '../system/message-of.js'
import { openingProblem, readInput } from '../system/regular-file.js'
import { readKeyFile } from './api-key.js'
import { TooLargeError } from './bounded-body.js'
import { isTimeout } from './deadline.js'
import { openWay } from './dispatcher.js'
import { exchangeOnce } from './exchange-once.js'
import { type Asked, isDropped, NoAnswerError } from './no-answer.js'

/** The real service behind a sandbox, over the network. */
export interface Upstream {
  /** Whether it was given a key that stands for those of the sandbox. */
  readonly hasKey: boolean
  /** Hidden wherever something is kept. */
  readonly secrets: readonly string[]
  /** Sends a request on, and reads the answer whole. Never rejects. @param left aborted when its client has left */
  send(forward: Forward, left?: AbortSignal): Promise<UpstreamOutcome>
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly apiKeyFile: string | undefined
  /** File of the certificate authority that has signed its certificate. */
  readonly caFile: string | undefined
  /** For an answer as a whole. */
  readonly timeout: DurationMs
  readonly env: Environment
}

/** Far more than any documented answer: what counts is what it is unpacked to. */
const LARGEST_ANSWER: Bytes = 16 * MIB
const LARGEST_CA_FILE: Bytes = MIB
/** What is dropped before it is answered may be a connection that was idle for too long: a read is sent once more. */
const ATTEMPTS_TO_READ = 2
const IDLE_MS: DurationMs = 4000

/**
 * Opens the way to the real service: straight if it is on this machine, else through the
 * proxies of the environment. No redirect is followed, so that its key reaches nobody else.
 *
 * @throws Failure INVALID_OPTIONS for a file that cannot be read, TargetError for a proxy that is none
 */
export async function openUpstream({ baseUrl, apiKeyFile, caFile, timeout, env }: UpstreamOptions): Promise<Upstream> {
  const where = `--upstream-api-key-file ${JSON.stringify(apiKeyFile)}`
  const key = apiKeyFile === undefined ? undefined : await readKeyFile(apiKeyFile, where)
  const ca = caFile === undefined ? undefined : [...rootCertificates, readAuthority(caFile)]
  const { dispatcher, proxy } = await openWay(baseUrl, env, { idle: IDLE_MS, ...(ca === undefined ? {} : { ca }) })
  const { origin, pathname } = new URL(baseUrl)
  const basePath = pathname.replace(/\/+$/, '')
  const authorization = key === undefined ? undefined : `Bearer ${key}`
  const pseudonym = `1.1 petstore-sandbox-${randomBytes(8).toString('hex')}`

  async function ask(forward: Forward, signal: AbortSignal | undefined, onSent: () => void): Promise<UpstreamOutcome> {
    const own = forward.authorization ?? authorization
    const headers = [...forward.headers, 'accept-encoding', 'gzip, deflate, br', 'via', pseudonym]
    if (own !== undefined) headers.push('authorization', own)
    const answer = await exchangeOnce(
      dispatcher,
      {
        origin,
        path: basePath + forward.target,
        method: forward.method as 'GET',
        headers,
        body: forward.body ?? null,
      },
      { timeout, maxBody: LARGEST_ANSWER, signal, onSent },
    )
    const encoding = headerIn(answer.headers, 'content-encoding')
    const bytes = encoding === undefined ? answer.body : await unpacked(answer.body, encoding)
    const binary = bytes.toString('latin1')
    // What is ASCII reads the same either way, and need not be kept twice.
    const body = isAscii(bytes) ? binary : bytes.toString()
    return { kind: 'answer', status: answer.status, headers: answer.headers, body, binary }
  }

  return {
    hasKey: key !== undefined,
    secrets: key === undefined ? [] : [key],
    async send(forward, left) {
      if (forward.via.includes(pseudonym)) return failure('upstream_invalid', LOOP)
      const isRead = forward.method === 'GET'
      let isSent = false
      const onSent = () => {
        isSent = true
      }
      for (let attempt = 1; ; attempt++) {
        try {
          if (left?.aborted === true) return { kind: 'left', isOpen: false }
          return await ask(forward, left, onSent)
        } catch (error) {
          const isOpen = isSent && !isRead
          if (left?.aborted === true) return { kind: 'left', isOpen }
          if (isRead && attempt < ATTEMPTS_TO_READ && isDropped(error)) continue
          const { problem, message } = failureOf(error, { url: origin, timeout, attempts: 1, proxy })
          return failure(
            problem,
            isOpen ? `${message} The ${forward.method} may have been carried out all the same.` : message,
          )
        }
      }
    },
    close: () => dispatcher.destroy(),
  }
}

const LOOP = 'The service behind this sandbox leads back to it. Name another one with --upstream.'

/** An answer says that it is packed in a way that was not asked for, or is not. */
class Unreadable extends Error {}

function failureOf(error: unknown, asked: Asked): UpstreamFailure {
  const { url: origin, timeout } = asked
  if (isTimeout(error)) {
    return failure('upstream_timeout', `${origin} took longer than ${formatDuration(timeout)} (--upstream-timeout).`)
  }
  if (error instanceof TooLargeError)
    return failure('upstream_invalid', `The answer of ${origin} is larger than ${formatSize(LARGEST_ANSWER)}.`)
  if (error instanceof Unreadable) return failure('upstream_invalid', `The answer of ${origin} ${error.message}.`)
  try {
    const { message, failure: code, isUntrusted } = NoAnswerError.from(error, asked)
    const cure = isUntrusted ? ' If your own authority signed it, name that with --upstream-ca.' : ''
    const isBroken = /^(?:MALFORMED$|HPE_|UND_ERR_RES|UND_ERR_HEADERS_OVERFLOW$)/.test(code)
    return failure(isBroken ? 'upstream_invalid' : 'upstream_unreachable', `${message}.${cure}`)
  } catch {
    return failure('upstream_invalid', `The answer of ${origin} cannot be read: ${messageOf(error)}.`)
  }
}

function failure(problem: UpstreamFailure['problem'], message: string): UpstreamFailure {
  return { kind: 'failure', problem, message }
}

const UNPACKERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}
const inflateBare = promisify(inflateRaw)

/** Nobody packs more often; a small answer might keep the sandbox busy for minutes. As many as curl takes. */
const MOST_ENCODINGS = 5

/** Many servers leave out the frame that `deflate` has. @source RFC 9110, section 8.4.1.2 */
function unpackerOf(encoding: keyof typeof UNPACKERS, [first = 0]: Buffer) {
  return encoding === 'deflate' && (first & 0x0f) !== 8 ? inflateBare : UNPACKERS[encoding]
}

/** Undoes what a Content-Encoding says, as much as may be read. */
async function unpacked(packed: Buffer, encoding: string): Promise<Buffer> {
  const encodings = encoding
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
  if (encodings.length > MOST_ENCODINGS) throw new Unreadable(`is packed ${encodings.length} times`)
  let bytes = packed
  for (const one of encodings.toReversed()) {
    if (one === '' || one === 'identity' || bytes.length === 0) continue
    if (!isKnown(one)) throw new Unreadable(`is packed with ${JSON.stringify(one)}`)
    try {
      bytes = await unpackerOf(one, bytes)(bytes, { maxOutputLength: LARGEST_ANSWER })
    } catch (error) {
      if (error instanceof RangeError) throw new TooLargeError(LARGEST_ANSWER)
      throw new Unreadable(`says that it is packed with ${one}, and is not`)
    }
  }
  return bytes
}

function isKnown(encoding: string): encoding is keyof typeof UNPACKERS {
  return Object.hasOwn(UNPACKERS, encoding)
}

function headerIn(list: readonly string[], name: string): string | undefined {
  const place = list.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === name)
  return place === -1 ? undefined : list[place + 1]
}

function readAuthority(file: string): Buffer {
  try {
    return readInput(file, LARGEST_CA_FILE)
  } catch (error) {
    throw new Failure(
      'INVALID_OPTIONS',
      `--upstream-ca ${JSON.stringify(file)}: cannot be read (${openingProblem(error)})`,
      { cause: error },
    )
  }
}
