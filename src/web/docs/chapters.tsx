import type { ComponentChildren } from 'preact'
import { PROBLEMS, type ProblemCode } from '../../domain/problems.js'
import { CodeBlock, ScrollBox, Table } from '../ui.js'
import { type ContractModel, planRows } from './contract-model.js'
import { keyInSpace, type Served } from './docs-state.js'
import { Inline, Prose } from './operation-view.js'
import { retryLoops } from './retry-loops.js'

interface Chapter {
  readonly id: string
  readonly title: string
  text(contract: ContractModel): string
  content(served: Served): ComponentChildren
}

const CURES: Readonly<Record<Exclude<ProblemCode, 'forbidden' | 'conflict'>, string>> = {
  invalid_request: 'Fix each violation in the message. Retrying the same request does not help.',
  missing_api_key: 'Send an API key. See Authentication for the header.',
  invalid_api_key: 'Use a key of this sandbox, from the list on this page.',
  not_found: 'Check path and id. Ids have 64 bits: a client that parses them as doubles requests another animal.',
  operation_removed: 'Use the successor in the message.',
  method_not_allowed: 'Use a method in the Allow header.',
  unsupported_media_type: 'Send application/json in UTF-8, without Content-Encoding.',
  payload_too_large: 'Send less than 1 MiB.',
  rate_limit_exceeded: 'Wait for Retry-After, then retry with growing delays.',
  api_key_banned: 'Wait for Retry-After. A client that waits after each 429 is never banned.',
  simulated_fault: 'Remove the fault in the dashboard, or retry.',
  internal_error: 'See the log of the sandbox.',
  overloaded: 'Retry, with fewer large bodies at once.',
  store_full: 'Remove animals, reset the sandbox, or start it with a larger --max-store.',
  log_unavailable: 'Wait for Retry-After and retry. The Redis with the log of the replicas cannot be reached.',
  upstream_unreachable: 'See the message. Check the address of the real service, the network and the proxy.',
  upstream_invalid: 'See the message. Send the request to the real service directly.',
  upstream_busy: 'Wait for open requests to the real service, or send fewer at a time.',
  upstream_timeout: 'Retry, or start the sandbox with a longer --upstream-timeout.',
  too_many_spaces: 'Remove unused spaces.',
  bad_request: 'Send valid HTTP/1.1. Check proxies.',
  request_timeout: 'Send the request without pauses.',
  headers_too_large: 'Send fewer or shorter headers.',
}

const ERRORS = Object.entries(CURES).map(([code, cure]) => {
  const { status, message } = PROBLEMS[code as keyof typeof CURES]
  return [code, String(status), message, cure]
})

export const CHAPTERS: readonly Chapter[] = [
  {
    id: 'overview',
    title: 'Overview',
    text: ({ title, description }) => `${title} ${description}`,
    content: ({ contract, baseUrl }) => (
      <>
        <h2 tabIndex={-1}>
          {contract.title} {contract.version}
        </h2>
        <p>
          Base address <code>{baseUrl}</code>
        </p>
        <Prose text={contract.description} />
        <PlanTable contract={contract} />
      </>
    ),
  },
  {
    id: 'authentication',
    title: 'Authentication',
    text: () => 'bearer api key authorization 401 www-authenticate fixture keys space',
    content: ({ state }) => (
      <>
        <h2 tabIndex={-1}>Authentication</h2>
        <p>
          Every operation takes an API key:{' '}
          <code>
            {state.keyHeader.name}: {state.keyHeader.prefix}
            {keyInSpace()}
          </code>
          . Without a key, or with an invalid one, the response is a 401.
        </p>
        <p>
          This sandbox has the following keys, each with a plan or a fixed condition. Append <code>~name</code> to use a
          key in a separate space with its own animals, quotas, clock and log. With <code>~name+sender</code> or{' '}
          <code>~+sender</code> conduct judges each client that shares the key separately.
        </p>
        <Table
          head={['Key', 'Plan', 'Always']}
          rows={state.keys.map(({ key, plan, always, secret }) => [
            secret ? `${key} (the label of a secret key)` : key,
            plan,
            always ?? '',
          ])}
          isMono
        />
      </>
    ),
  },
  {
    id: 'limits',
    title: 'Plans and rate limits',
    text: () =>
      'plan quota rate limit 429 retry-after backoff x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset ban loop',
    content: ({ contract, baseUrl, state }) => (
      <>
        <h2 tabIndex={-1}>Plans and rate limits</h2>
        <PlanTable contract={contract} />
        <p>
          Every response has <code>X-RateLimit-Limit</code>, <code>X-RateLimit-Remaining</code> and{' '}
          <code>X-RateLimit-Reset</code> (a Unix timestamp). A request over the limit gets a 429 and{' '}
          <code>Retry-After</code>; wait for that time, and for longer each time it is refused again. A client that
          keeps sending may be banned for a while.
        </p>
        <h3>A loop that waits</h3>
        <CodeBlock forms={retryLoops(baseUrl, state.keyHeader, keyInSpace())} />
      </>
    ),
  },
  {
    id: 'errors',
    title: 'Errors',
    text: () => ERRORS.map((error) => error.join(' ')).join(' '),
    content: () => (
      <>
        <h2 tabIndex={-1}>Errors</h2>
        <p>
          Every error has the same shape: <code>code</code>, <code>message</code>, <code>status</code>. A switch of the
          sandbox may send a code with another status than its usual one.
        </p>
        <ScrollBox label="Error codes">
          <Table head={['Code', 'Status', 'Cause', 'Cure']} rows={ERRORS} isMono />
        </ScrollBox>
      </>
    ),
  },
  {
    id: 'deprecation',
    title: 'Deprecation policy',
    text: () => 'deprecated deprecation sunset link successor removed brownout removal date',
    content: ({ contract }) => {
      const deprecated = contract.operations.filter(({ markers }) => markers.some(({ kind }) => kind === 'deprecated'))
      return (
        <>
          <h2 tabIndex={-1}>Deprecation policy</h2>
          <p>
            A deprecated operation says so in every response: <code>Deprecation</code> (since when, RFC 9745),{' '}
            <code>Sunset</code> (until when, RFC 8594) and <code>Link</code> with its successor. From its removal date
            on the response is 404 <code>operation_removed</code>; move the clock of the sandbox there to see it, or set
            sunset to “after”.
          </p>
          {deprecated.length === 0 ? <p>No operation is deprecated.</p> : null}
          <ul>
            {deprecated.map(({ id, method, path, markers, successor }) => (
              <li key={id}>
                <a href={`#/${encodeURIComponent(id)}`}>
                  {method} {path}
                </a>
                : {markers.map(({ text }) => text).join(', ')}
                {successor === '' ? '' : `; use ${successor} instead`}.
              </li>
            ))}
          </ul>
        </>
      )
    },
  },
  {
    id: 'choices',
    title: 'The sandbox’s choices',
    text: () => 'silent specification choice x-sandbox-choice sandbox reason window order',
    content: ({ contract }) => {
      const choices = contract.operations.flatMap(({ id, method, path, responses }) =>
        responses
          .filter(({ choice }) => choice !== '')
          .map((response) => ({ ...response, id, title: `${method} ${path}, ${response.status}` })),
      )
      return (
        <>
          <h2 tabIndex={-1}>The sandbox’s choices</h2>
          <p>
            Where the specification is silent, the sandbox makes a choice, which may differ from a real instance. Each
            response that it produces (a quota, a ban, a storm, a fault) has <code>X-Sandbox-Reason</code>. In this
            contract, these responses (<i>response</i>) or their bodies (<i>body</i>) are its choice:
          </p>
          {choices.length === 0 ? <p>None.</p> : null}
          <ul>
            {choices.map(({ id, title, choice, description }) => (
              <li key={title}>
                <a href={`#/${encodeURIComponent(id)}`}>{title}</a> ({choice}): <Inline text={description} />
              </li>
            ))}
          </ul>
          <p>
            Windows are fixed and begin with a key’s first request. Lists are newest first. A refused request costs no
            quota. The README has all of it in one table, each row with its switch.
          </p>
        </>
      )
    },
  },
]

function PlanTable({ contract }: { readonly contract: ContractModel }) {
  const rows = planRows(contract.document['x-plans'])
  return rows.length === 0 ? null : (
    <Table head={['Plan', 'Requests a minute', 'Requests a day']} rows={rows} numbersFrom={1} />
  )
}
