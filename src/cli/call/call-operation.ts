import { resolve } from 'node:path'
import { basePathOf } from '../../client/base-address.js'
import { addressOf, type BuiltRequest } from '../../client/build-request.js'
import { toCurl, toHttpText } from '../../client/curl.js'
import type { ClientRequest } from '../../client/exchange.js'
import { joinedHeaders, requestHeaders } from '../../client/headers.js'
import { NoAnswerError } from '../../client/no-answer.js'
import { RequestError } from '../../client/request-error.js'
import { type Sent, send } from '../../client/send.js'
import { DEFAULT_SOURCE, resolveTarget, SANDBOX_KEY, type Target } from '../../client/target.js'
import type { Contract } from '../../contract/contract.js'
import { KEY_REFERENCE } from '../../domain/curl.js'
import { MASK, redactAddress } from '../../domain/redaction.js'
import { packageVersion } from '../../system/package-files.js'
import { openingProblem, readInput } from '../../system/regular-file.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import { EXIT, SIGNAL_EXIT } from '../exit-codes.js'
import type { CliIo, StopSignal } from '../io.js'
import { print, printBytes } from '../print.js'
import { EXIT_BREACH, exitOfStatus, failureOfAnswer, failureOfNoAnswer } from './call-failure.js'
import { cureOf } from './cure.js'
import { stabilityWarnings } from './list-operations.js'
import { clientMachine } from './machine.js'
import type { FlagNames } from './operation-command.js'
import type { GivenFlags } from './own-flags.js'
import type { Reporter } from './reporter.js'
import { type CallSettings, readSettings } from './settings.js'
import { headerLines, headLines, showBody } from './show-answer.js'
import { canAsk, confirms, readStdin } from './stdin.js'

/** One call, as it was asked for. */
export interface Call {
  readonly contract: Contract
  /** Builds the request around the given body. */
  build(body: Uint8Array | undefined): BuiltRequest
  readonly names: FlagNames
  readonly flags: GivenFlags
}

/** Makes the request, sends it and prints the answer. @returns the exit code */
export async function callOperation(call: Call, io: CliIo, tell: Reporter): Promise<number> {
  const { flags } = call
  const settings = readSettings(flags)
  if (flags.text('api-key-file') === '-' && flags.text('body') === '-') {
    throw new RequestError('INVALID_FLAG', ['--api-key-file - and --body - cannot both read stdin'])
  }
  const body = await givenBody(flags.text('body'), io)
  const request = call.build(body)
  const { operation } = request
  if (body !== undefined && !operation.takesBody) {
    throw new RequestError('INVALID_FLAG', [`--body: ${operation.id} takes no body`])
  }
  if (request.violations.length > 0 && !flags.has('no-validate')) refuse(call, request)

  const target = await resolveTarget(
    { target: flags.text('target'), baseUrl: flags.text('base-url'), apiKeyFile: flags.text('api-key-file') },
    { env: io.env, cwd: io.cwd, readStdin: async () => (await readStdin()).toString('utf8') },
  )
  const outgoing: ClientRequest = {
    method: request.method,
    url: addressOf(request, target.baseUrl),
    headers: requestHeaders({
      apiKey: target.apiKey,
      hasBody: request.body !== undefined,
      given: settings.headers,
      userAgent: `petstore-sandbox/${packageVersion}`,
    }),
    body: request.body,
  }
  const unknown = request.unknownFields.map((name) => `${operation.id} has no field ${JSON.stringify(name)}.`)
  for (const warning of [...target.warnings, ...stabilityWarnings(operation), ...unknown]) tell.warning(warning)
  if (flags.has('curl') || flags.has('dry-run')) {
    const text = `${flags.has('curl') ? curlOf(outgoing, target, io, tell) : toHttpText(outgoing)}\n`
    // A shell that reads it is to send the same bytes.
    await printBytes(io.stdout, io.stdout.isTTY === true ? escapeLines(text) : text)
    return EXIT.ok
  }
  return await untilSignal(io, async (signal) => {
    await mayWrite(target, request, flags, io, signal)
    return await exchange({ call, request, target, outgoing, settings, signal }, io, tell)
  })
}

interface Exchange {
  readonly call: Call
  readonly request: BuiltRequest
  readonly target: Target
  readonly outgoing: ClientRequest
  readonly settings: CallSettings
  readonly signal: AbortSignal
}

/** The command that sends the same, by whatever key the environment has by then. */
function curlOf(outgoing: ClientRequest, { sources }: Target, { env }: CliIo, tell: Reporter): string {
  const text = toCurl(outgoing, sources.apiKey === DEFAULT_SOURCE ? SANDBOX_KEY : undefined)
  if (text.includes(KEY_REFERENCE) && (env.PETSTORE_API_KEY ?? '') === '') {
    const from = sources.apiKey === undefined || sources.apiKey === '--api-key-file' ? '<file>' : sources.apiKey
    tell.note(`It reads the key from PETSTORE_API_KEY, which is not set here: export PETSTORE_API_KEY="$(cat ${from})"`)
  }
  if (text.includes(MASK)) tell.note(`Put in what is shown as ${MASK}; it may be a secret.`)
  return text
}

async function exchange(given: Exchange, io: CliIo, tell: Reporter): Promise<number> {
  const { call, request, target, outgoing, settings, signal } = given
  const { flags } = call
  const verbose = flags.has('verbose')
  if (verbose)
    tell.detail([
      escapeControls(`> ${outgoing.method} ${redactAddress(outgoing.url)}`),
      ...headerLines(outgoing.headers).map((line) => `> ${line}`),
    ])
  const machine = clientMachine(io)
  let waited = () => {}
  try {
    const sent = await send(
      outgoing,
      {
        retries: settings.retries,
        maxWait: settings.maxWait,
        timeout: settings.timeout,
        maxBody: settings.maxBody,
        unsafe: flags.has('retry-unsafe'),
        env: io.env,
        signal,
        onWait: (wait) => {
          waited = tell.countdown(wait, wait.answer && cureOf(wait.answer, wait.wait, target))
        },
        onAnswer: (answer) => {
          if (verbose) tell.detail(headLines(answer).map((line) => `< ${line}`))
        },
      },
      { ...machine, sleep: (duration, stop) => machine.sleep(duration, stop).finally(waited) },
    )
    return await showSent(given, sent, io, tell)
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    if (flags.has('debug')) tell.detail([escapeLines(String(error.stack)), escapeLines(String(error.cause))])
    const failure = failureOfNoAnswer(request, outgoing.url, error)
    await tell.failure(failure)
    return failure.exit
  }
}

async function showSent(
  { call, request, target, outgoing, settings }: Exchange,
  sent: Sent,
  io: CliIo,
  tell: Reporter,
): Promise<number> {
  const { flags } = call
  const { answer } = sent
  const breaches = flags.has('check') ? await breachesIn(call.contract, request, outgoing, sent, target) : []
  const ofStatus = exitOfStatus(answer.status)
  const exit = breaches.length > 0 ? EXIT_BREACH : flags.has('ignore-status') ? EXIT.ok : ofStatus
  const head = flags.has('include') ? headLines(answer) : []
  if (ofStatus === EXIT.ok) {
    const shown = await showBody(answer, settings.output, io.stdout, io.env)
    const isRead = head.length === 0 || (await print(io.stdout, `${[...head, ''].join('\n')}\n`))
    if (isRead) await printBytes(io.stdout, shown.bytes)
    if (shown.note !== undefined) tell.warning(shown.note)
  } else {
    await tell.failure(failureOfAnswer(request, outgoing.url, sent, exit, target), answer, head)
  }
  for (const breach of breaches) tell.breach(breach)
  return exit
}

async function breachesIn(
  contract: Contract,
  { operation, method, path, query, body }: BuiltRequest,
  { headers }: ClientRequest,
  { answer }: Sent,
  { baseUrl }: Target,
): Promise<readonly string[]> {
  const [{ readAnswerRules }, { findBreaches }] = await Promise.all([
    import('../../contract/answer-rules.js'),
    import('../../drift/find-breaches.js'),
  ])
  const rules = await readAnswerRules(contract, 'native')
  const route = contract.route(method, path)
  const request = {
    method,
    path,
    query,
    headers: joinedHeaders(headers),
    body: body === undefined ? '' : Buffer.from(body).toString('utf8'),
  }
  const breaches = findBreaches(
    { rules, plans: contract.plans, basePath: basePathOf(baseUrl) },
    {
      operation,
      captured: route.kind === 'operation' ? route.captured : [],
      request,
      answer: { status: answer.status, headers: joinedHeaders(answer.headers), body: answer.body.toString('utf8') },
    },
  )
  return breaches.map(({ detail }) => detail)
}

/** @throws RequestError listing every violation with the flag that caused it */
function refuse({ names }: Call, { operation, violations }: BuiltRequest): never {
  const flagOf = new Map([...names].map(([one, flag]) => [`${'in' in one ? one.in : 'body'} ${one.name}`, `--${flag}`]))
  throw new RequestError(
    'INVALID_REQUEST',
    violations.map(({ in: location, name, message }) => {
      const flag = flagOf.get(`${location} ${name.replace(/[.[].*$/s, '')}`)
      return `${operation.id}: ${message}${flag === undefined ? '' : `; set it with ${flag}`}`
    }),
  )
}

/** In bytes. The sandbox reads a mebibyte; other services may take more. */
const LARGEST_BODY_FILE = 64_000_000

async function givenBody(text: string | undefined, { cwd }: CliIo) {
  if (text === undefined) return undefined
  if (text === '-') return await readStdin()
  if (!text.startsWith('@')) return Buffer.from(text)
  const file = text.slice(1)
  try {
    return readInput(resolve(cwd, file), LARGEST_BODY_FILE)
  } catch (error) {
    const problem = `the file cannot be read (${openingProblem(error)})`
    throw new RequestError('INVALID_FLAG', [`--body ${JSON.stringify(text)}: ${problem}`])
  }
}

/** @throws RequestError unless the caller has confirmed that this is production */
async function mayWrite(
  { isProduction, baseUrl }: Target,
  { operation, method }: BuiltRequest,
  flags: GivenFlags,
  io: CliIo,
  signal: AbortSignal,
): Promise<void> {
  if (!isProduction || method === 'GET' || method === 'HEAD' || flags.has('yes')) return
  const what = escapeControls(`${operation.id} writes to production (${baseUrl})`)
  // In these cases stdin holds the body or the key, not an answer to our question.
  const isFree = flags.text('body') !== '-' && flags.text('api-key-file') !== '-'
  if (isFree && canAsk() && io.stderr.isTTY === true) {
    if (await confirms(`${what}. Send it?`, io.stderr, signal)) return
    signal.throwIfAborted()
    throw new RequestError('CONFIRMATION_NEEDED', ['nothing was sent'])
  }
  throw new RequestError('CONFIRMATION_NEEDED', [`${what}. Confirm with --yes.`])
}

/** The first signal aborts whatever is in progress, waits included. */
async function untilSignal(io: CliIo, act: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const abort = new AbortController()
  let received: StopSignal | undefined
  const ignore = io.onSignal((signal) => {
    received ??= signal
    abort.abort()
  })
  try {
    return await act(abort.signal)
  } catch (error) {
    if (received === undefined) throw error
    return SIGNAL_EXIT[received]
  } finally {
    ignore()
  }
}
