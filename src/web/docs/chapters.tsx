import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { StateView } from '../../control/views.js'
import { PROBLEMS, type ProblemCode } from '../../domain/problems.js'
import { CodePanel } from './code-panel.js'
import type { ContractModel } from './contract-model.js'
import { planRows } from './plan-rows.js'
import { Prose } from './prose.js'
import { RETRY_LOOPS } from './retry-loops.js'

/** What a chapter is written from. */
interface ChapterContext {
  readonly contract: ContractModel
  readonly state: StateView
  readonly baseUrl: string
  /** The chosen one, with its space. */
  readonly key: string
}

/** A part of the page that is about no single operation. */
interface Chapter {
  readonly id: string
  readonly title: string
  /** What a search looks at. */
  text(contract: ContractModel): string
  content(context: ChapterContext): ComponentChildren
}

/** What would help against each error of the service. */
const CURES: Readonly<Record<Exclude<ProblemCode, 'forbidden' | 'conflict'>, string>> = {
  invalid_request:
    'Read the message: it names every violation. Mend the request; sending it again as it is changes nothing.',
  missing_api_key: 'Send the header Authorization: Bearer and a key.',
  invalid_api_key: 'Use a key of this sandbox; the page offers them.',
  not_found:
    'Check path and id. Ids are exact to 64 bits: a client that reads them into a double looks for another animal.',
  operation_removed: 'Use the successor that the message names.',
  method_not_allowed: 'Use a method of the header Allow.',
  unsupported_media_type: 'Send application/json in UTF-8, without Content-Encoding.',
  payload_too_large: 'Send less than 1 MiB.',
  rate_limit_exceeded: 'Wait for Retry-After, then try again; with growing delays if it is refused again.',
  api_key_banned: 'Wait for Retry-After. A client that waits after each 429 is never banned.',
  simulated_fault: 'Take the fault away in the dashboard, or let the client try again.',
  internal_error: 'See the log of the sandbox.',
  overloaded: 'Send it again, with fewer large bodies at once.',
  store_full: 'Remove animals, reset the sandbox, or start it with a larger --max-store.',
  log_unavailable: 'Wait for Retry-After and send it again; Redis, where the replicas keep their log, is away.',
  upstream_unreachable: 'See the message; check the address of the real service, the network, the proxy.',
  upstream_invalid: 'See the message; ask the real service directly.',
  upstream_timeout: 'Send it again, or start the sandbox with a longer --upstream-timeout.',
  too_many_spaces: 'Remove spaces that are not used any more.',
  bad_request: 'Send well-formed HTTP/1.1; look for a proxy that does not.',
  request_timeout: 'Send the request without pauses.',
  headers_too_large: 'Send fewer or shorter headers.',
}

export const CHAPTERS: readonly Chapter[] = [
  {
    id: 'overview',
    title: 'Overview',
    text: ({ title, description }) => `${title} ${description}`,
    content: ({ contract, baseUrl }) => (
      <article>
        <h2 tabIndex={-1}>
          {contract.title} {contract.version}
        </h2>
        <p>
          Base address <code>{baseUrl}</code>
        </p>
        <Prose text={contract.description} />
        <PlanTable contract={contract} />
      </article>
    ),
  },
  {
    id: 'authentication',
    title: 'Authentication',
    text: () => 'bearer api key authorization 401 www-authenticate fixture keys space',
    content: ({ state, key }) => (
      <article>
        <h2 tabIndex={-1}>Authentication</h2>
        <p>
          Every operation takes an API key as bearer token: <code>Authorization: Bearer {key}</code>. Without a key, or
          with one that is not valid, the answer is 401.
        </p>
        <p>
          These keys are in this sandbox; the key alone picks a plan or a misfortune. Any of them with{' '}
          <code>~name</code> appended is the same key in a space of its own: own animals, quotas, clock and log.
        </p>
        <table>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Plan</th>
              <th scope="col">Always</th>
            </tr>
          </thead>
          <tbody>
            {state.keys.map(({ key: name, plan, always, secret }) => (
              <tr key={name}>
                <th scope="row" class="mono">
                  {secret ? `${name} (its label; the key itself is shown nowhere)` : name}
                </th>
                <td>{plan}</td>
                <td>{always ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </article>
    ),
  },
  {
    id: 'limits',
    title: 'Plans and rate limits',
    text: () =>
      'plan quota rate limit 429 retry-after backoff x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset ban loop',
    content: ({ contract, baseUrl, key }) => (
      <article>
        <h2 tabIndex={-1}>Plans and rate limits</h2>
        <PlanTable contract={contract} />
        <p>
          Every answer carries <code>X-RateLimit-Limit</code>, <code>X-RateLimit-Remaining</code> and{' '}
          <code>X-RateLimit-Reset</code> (a Unix timestamp). A request over the limit is answered with 429 and{' '}
          <code>Retry-After</code>; wait for that time, and for longer each time it is refused again. Who keeps sending
          may be banned for a while.
        </p>
        <h3>A loop that waits</h3>
        <RetryLoop baseUrl={baseUrl} apiKey={key} />
      </article>
    ),
  },
  {
    id: 'errors',
    title: 'Errors',
    text: () =>
      Object.entries(CURES)
        .map(([code, cure]) => `${code} ${PROBLEMS[code as keyof typeof CURES].message} ${cure}`)
        .join(' '),
    content: () => (
      <article>
        <h2 tabIndex={-1}>Errors</h2>
        <p>
          Every error has the same shape: <code>code</code>, <code>message</code>, <code>status</code>. A switch of the
          sandbox may send a code with another status than its usual one.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
        <section class="tablebox" aria-label="Error codes" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Code</th>
                <th scope="col">Status</th>
                <th scope="col">Cause</th>
                <th scope="col">Cure</th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(CURES).map(([code, cure]) => {
                const { status, message } = PROBLEMS[code as keyof typeof CURES]
                return (
                  <tr key={code} id={code}>
                    <th scope="row" class="mono">
                      {code}
                    </th>
                    <td>{status}</td>
                    <td>{message}</td>
                    <td>{cure}</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </section>
      </article>
    ),
  },
  {
    id: 'deprecation',
    title: 'Deprecation policy',
    text: () => 'deprecated deprecation sunset link successor removed brownout removal date',
    content: ({ contract }) => {
      const deprecated = contract.operations.filter(({ markers }) => markers.some(({ kind }) => kind === 'deprecated'))
      return (
        <article>
          <h2 tabIndex={-1}>Deprecation policy</h2>
          <p>
            A deprecated operation says so in every answer: <code>Deprecation</code> (since when, RFC 9745),{' '}
            <code>Sunset</code> (until when, RFC 8594) and <code>Link</code> with its successor. From the day of its
            removal on it is answered with 404 <code>operation_removed</code>; move the clock of the sandbox there to
            see it, or set sunset to “after”.
          </p>
          {deprecated.length === 0 ? (
            <p>No operation is deprecated.</p>
          ) : (
            <ul>
              {deprecated.map(({ id, method, path, markers, successor }) => (
                <li key={id}>
                  <a href={`#/${encodeURIComponent(id)}`}>
                    {method} {path}
                  </a>
                  : {markers.map(({ text }) => text).join(', ')}
                  {successor === undefined ? '' : `; use ${successor} instead`}.
                </li>
              ))}
            </ul>
          )}
        </article>
      )
    },
  },
  {
    id: 'choices',
    title: 'The sandbox’s choices',
    text: () => 'silent specification choice x-sandbox-choice sandbox reason window order',
    content: ({ contract }) => {
      const choices = contract.operations.flatMap(({ id, method, path, answers }) =>
        answers.flatMap(({ status, choice, description }) =>
          choice === undefined ? [] : [{ id, what: `${method} ${path}, ${status}`, choice, description }],
        ),
      )
      return (
        <article>
          <h2 tabIndex={-1}>The sandbox’s choices</h2>
          <p>
            Where the specification is silent, the sandbox had to choose; a real instance need not do the same. Each
            answer that it made up (a quota, a ban, a storm, a fault) says so in <code>X-Sandbox-Reason</code>. In this
            contract, these answers (<i>response</i>) or their bodies (<i>body</i>) are its choice:
          </p>
          {choices.length === 0 ? (
            <p>None.</p>
          ) : (
            <ul>
              {choices.map(({ id, what, choice, description }) => (
                <li key={what}>
                  <a href={`#/${encodeURIComponent(id)}`}>{what}</a> ({choice}): {description}
                </li>
              ))}
            </ul>
          )}
          <p>
            Windows are fixed and begin with a key’s first request. Lists are newest first. A refused request costs no
            quota. The README has all of it in one table, each row with its switch.
          </p>
        </article>
      )
    },
  },
]

function PlanTable({ contract }: { readonly contract: ContractModel }) {
  const rows = planRows(contract.document['x-plans'])
  if (rows.length === 0) return null
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Plan</th>
          <th scope="col" class="number">
            Requests a minute
          </th>
          <th scope="col" class="number">
            Requests a day
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, perMinute, perDay]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{perMinute}</td>
            <td class="number">{perDay}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function RetryLoop({ baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string }) {
  const [language, setLanguage] = useState('fetch')
  const code = RETRY_LOOPS[language]?.(baseUrl, apiKey) ?? ''
  return <CodePanel languages={Object.keys(RETRY_LOOPS)} language={language} choose={setLanguage} code={code} />
}
