import { resolve } from 'node:path'
import { KEY_REFERENCE, withKeyQuery } from '../../advice/curl.js'
import { type BuiltRequest, contentTypeOf, requestUrl, toCurl, toHttpText } from '../../client/build-request.js'
import type { ClientRequest, ServiceResponse } from '../../client/exchange.js'
import { joinedHeaders, requestHeaders } from '../../client/headers.js'
import { NoResponseError } from '../../client/no-response.js'
import { type SendResult, send } from '../../client/send.js'
import { DEFAULT_SOURCE, resolveTarget, SANDBOX_KEY, type Target } from '../../client/target.js'
import type { Contract, Violation } from '../../contract/contract.js'
import type { KeyHeader } from '../../contract/contract-data.js'
import { readPairs } from '../../contract/query.js'
import { basePathIn } from '../../domain/base-address.js'
import { Failure } from '../../domain/failures.js'
import { documentedChoices, keyParts } from '../../domain/key-places.js'
import { MASK, redactAddress } from '../../domain/redaction.js'
import type { DurationMs } from '../../domain/time.js'
import { packageVersion } from '../../system/package-files.js'
import { describeOpenError, readInput } from '../../system/regular-file.js'
import { confirmWrite, refuseUnknownSandbox } from '../confirm-write.js'
import { abortOnSignal, type CliIo, EXIT } from '../io.js'
import { escapeControls, escapeLines, print, printBytes } from '../print.js'
import { type FlagNames, type GivenFlags, readSettings } from './commands.js'
import { exitCodeForStatus, noResponseFailure, responseFailure, responseFix, responseHint } from './failure.js'
import { clientMachine } from './machine.js'
import { headerLines, headLines, openReporter, type Reporter, showBody, stabilityWarnings } from './show.js'
import { readStdin } from './stdin.js'

export interface Call {
  readonly contract: Contract
  build(body: Uint8Array | undefined): BuiltRequest
  readonly names: FlagNames
  readonly flags: GivenFlags
  /** How long the look for a contract took, which counts towards the time limit. */
  readonly lookedFor: DurationMs
}

/** @source docs/cli.md, "Exit codes" */
const EXIT_VIOLATION = 6
/** In bytes. The sandbox accepts a mebibyte; other services may accept more. */
const MAX_BODY_FILE = 64_000_000

export async function callOperation(call: Call, io: CliIo): Promise<number> {
  const { flags, contract } = call
  const reporter = await openReporter(io)
  const settings = readSettings(flags)
  const keyFile = flags.text('api-key-file')
  if (keyFile === '-' && flags.text('body') === '-')
    throw new Failure('INVALID_FLAG', ['--api-key-file - and --body - cannot both read stdin'])
  const body = await givenBody(flags.text('body'), io)
  const request = call.build(body)
  const { operation, method } = request
  if (body !== undefined && !operation.takesBody)
    throw new Failure('INVALID_FLAG', [`--body: ${operation.id} takes no body`])
  const ownHeaders = {
    contentType: request.body && contentTypeOf(operation),
    given: settings.headers,
    userAgent: `petstore-sandbox/${packageVersion}`,
  }
  const violations = [...request.violations, ...headerViolations(call, request, ownHeaders)]
  if (violations.length > 0 && !flags.has('no-validate')) refuse(call, { operation, violations })

  const startedAt = io.monotonic()
  const target = await resolveTarget(
    { target: flags.text('target'), baseUrl: flags.text('base-url'), apiKeyFile: keyFile, key: flags.text('key') },
    {
      basePath: contract.basePath,
      env: io.env,
      cwd: io.cwd,
      limit: settings.timeout / 4,
      readStdin: async () => (await readStdin()).toString('utf8'),
    },
  )
  // On a busy machine, the looks may be late.
  const lookedFor = Math.min(call.lookedFor, settings.timeout / 2)
  const spent = lookedFor + Math.min(io.monotonic() - startedAt, settings.timeout / 4)
  const { apiKey } = target
  const { headers: keys, keyHeaders, keyQuery } = keyOf(call, request, apiKey)
  const plainUrl = requestUrl(request, target.baseUrl)
  const shownUrl = redactAddress(withKeyQuery(plainUrl, keyQuery, MASK))
  const outgoing: ClientRequest = {
    method,
    url: withKeyQuery(plainUrl, keyQuery, encodeURIComponent(apiKey ?? '')),
    headers: requestHeaders({ keys, ...ownHeaders }),
    body: request.body,
  }
  const unknown = request.unknownFields.map((name) => `${operation.id} has no field ${JSON.stringify(name)}.`)
  for (const warning of [...target.warnings, ...stabilityWarnings(operation), ...unknown]) reporter.warning(warning)
  if (flags.has('curl') || flags.has('dry-run')) {
    const plain = { ...outgoing, url: plainUrl }
    const text = flags.has('curl')
      ? curlOf(plain, keyHeaders, keyQuery, target, io, reporter)
      : toHttpText(plain, keyHeaders, keyQuery)
    // In a pipe the bytes stay as they are: a shell may run them.
    await printBytes(io.stdout, `${io.stdout.isTTY === true ? escapeLines(text) : text}\n`)
    return EXIT.ok
  }
  return await abortOnSignal(io, async (signal) => {
    // Otherwise stdin holds the body or the key.
    const canAsk = flags.text('body') !== '-' && keyFile !== '-'
    const isRead = method === 'GET' || method === 'HEAD'
    if (!isRead) refuseUnknownSandbox(operation.id, target)
    if (!isRead && !flags.has('yes')) await confirmWrite(operation.id, target, { canAsk, signal }, io)
    return await exchange(signal)
  })

  async function exchange(signal: AbortSignal): Promise<number> {
    const isVerbose = flags.has('verbose')
    if (isVerbose) {
      const head = [escapeControls(`${method} ${shownUrl}`), ...headerLines(outgoing.headers, keyHeaders)]
      reporter.detail(head.map((line) => `> ${line}`))
    }
    const { maxWait, timeout, maxBody, retries } = settings
    let sent: SendResult
    try {
      sent = await send(
        outgoing,
        {
          retries,
          maxWait,
          timeout,
          spent,
          maxBody,
          unsafe: flags.has('retry-unsafe'),
          env: io.env,
          signal,
          onWait: (wait) =>
            reporter.retry(wait, wait.response && responseFix(wait.response, wait.wait, target, io).command),
          onResponse: (response) => {
            if (isVerbose) reporter.detail(headLines(response, keyHeaders).map((line) => `< ${line}`))
          },
        },
        clientMachine(io),
      )
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error
      if (flags.has('debug')) reporter.detail([escapeLines(String(error.stack)), escapeLines(String(error.cause))])
      const failure = noResponseFailure(request, shownUrl, error)
      await reporter.failure(failure)
      return failure.exit
    }
    const { response } = sent
    const violations = flags.has('check') ? await violationsIn(contract, request, outgoing, response, target) : []
    const statusExit = exitCodeForStatus(response.status)
    const exit = violations.length > 0 ? EXIT_VIOLATION : flags.has('ignore-status') ? EXIT.ok : statusExit
    const head = flags.has('include') ? headLines(response, keyHeaders) : []
    if (statusExit === EXIT.ok) {
      const shown = await showBody(response, settings.output, io.stdout, io.env)
      const isOpen = head.length === 0 || (await print(io.stdout, `${[...head, ''].join('\n')}\n`))
      if (isOpen) await printBytes(io.stdout, shown.bytes)
      if (shown.note !== undefined) reporter.warning(shown.note)
    } else {
      const fix = responseFix(response, sent.retryAt?.in, target, io)
      const failure = responseFailure(request, shownUrl, sent, exit, responseHint(sent, fix))
      await reporter.failure(failure, response, head, fix.command)
    }
    for (const violation of violations) reporter.violation(violation)
    return exit
  }
}

/** @returns where the request has the key; `keyHeaders` are for output, without Basic, which encodes the key */
function keyOf({ contract }: Call, { operation, query }: BuiltRequest, apiKey: string | undefined) {
  const choices = documentedChoices(contract, operation.keys)
  const before = keyParts(choices, '')
  const keyHeaders = before.headers.flatMap(([name, prefix]) => (/^basic /i.test(prefix) ? [] : [{ name, prefix }]))
  if (apiKey === undefined) return { headers: [], keyHeaders, keyQuery: '' }
  const given = readPairs(query).map(([name]) => `${encodeURIComponent(name)}=`)
  const keyQuery = before.query.split('&').filter((pair) => !given.includes(pair))
  return { headers: keyParts(choices, apiKey).headers, keyHeaders, keyQuery: keyQuery.join('&') }
}

function curlOf(
  outgoing: ClientRequest,
  keyHeaders: readonly KeyHeader[],
  keyQuery: string,
  { sources }: Target,
  { env }: CliIo,
  { note }: Reporter,
): string {
  const text = toCurl(outgoing, keyHeaders, sources.apiKey === DEFAULT_SOURCE ? SANDBOX_KEY : undefined, keyQuery)
  if (text.includes(KEY_REFERENCE) && sources.apiKey === '--key')
    note('It reads the key from PETSTORE_API_KEY. Export the value of --key there.')
  else if (text.includes(KEY_REFERENCE) && (env.PETSTORE_API_KEY ?? '') === '') {
    const from = sources.apiKey === undefined || sources.apiKey === '--api-key-file' ? '<file>' : sources.apiKey
    note(`It reads the key from PETSTORE_API_KEY, which is not set here: export PETSTORE_API_KEY="$(cat ${from})"`)
  }
  if (text.includes(MASK)) note(`Replace ${MASK}: it masks a possible secret.`)
  return text
}

async function violationsIn(
  contract: Contract,
  { operation, method, path, query, body }: BuiltRequest,
  { headers }: ClientRequest,
  response: ServiceResponse,
  { baseUrl }: Target,
): Promise<readonly string[]> {
  const [{ readResponseRules }, { findViolations }, { engineResponse }] = await Promise.all([
    import('../../contract/response-rules.js'),
    import('../../drift/find-violations.js'),
    import('../../client/exchange.js'),
  ])
  const rules = await readResponseRules(contract, 'native')
  const route = contract.route(method, path)
  const violations = findViolations(
    { rules, contract, basePath: basePathIn(baseUrl) },
    {
      operation,
      captured: route.kind === 'operation' ? route.captured : [],
      request: { method, path, query, headers: joinedHeaders(headers), body: Buffer.from(body ?? '').toString('utf8') },
      response: engineResponse(response),
    },
  )
  return violations.map(({ detail }) => detail)
}

/** Without the key, which is not known yet. */
function headerViolations(
  { contract }: Call,
  { operation }: BuiltRequest,
  headers: Omit<Parameters<typeof requestHeaders>[0], 'keys'>,
): readonly Violation[] {
  const keys = documentedChoices(contract, operation.keys).flat()
  const isKey = (name: string) => keys.some((place) => place.name.toLowerCase() === name.toLowerCase())
  const sent = joinedHeaders(requestHeaders({ keys: [], ...headers }))
  return operation.checkHeaders(sent).filter(({ name }) => !isKey(name))
}

/** @throws Failure listing every violation with the flag that caused it */
function refuse({ names }: Call, { operation, violations }: Pick<BuiltRequest, 'operation' | 'violations'>): never {
  const flagOf = new Map([...names].map(([one, flag]) => [`${'in' in one ? one.in : 'body'} ${one.name}`, `--${flag}`]))
  throw new Failure(
    'INVALID_REQUEST',
    violations.map(({ in: location, name, message }) => {
      const flag = flagOf.get(`${location} ${name.replace(/[.[].*$/s, '')}`)
      return `${operation.id}: ${message}${flag === undefined ? '' : `; set it with ${flag}`}`
    }),
  )
}

async function givenBody(text: string | undefined, { cwd }: CliIo) {
  if (text === undefined) return undefined
  if (text === '-') return await readStdin()
  if (!text.startsWith('@')) return Buffer.from(text)
  try {
    return readInput(resolve(cwd, text.slice(1)), MAX_BODY_FILE)
  } catch (error) {
    const problem = `the file cannot be read (${describeOpenError(error)})`
    throw new Failure('INVALID_FLAG', [`--body ${JSON.stringify(text)}: ${problem}`])
  }
}
