import type { Finding, Refusals, WhatIf } from '../../conduct/conduct-view.js'
import { ExchangeLinks } from './exchange-links.js'
import { Section } from './section.js'
import { useDashboard } from './session-context.js'

/** How well clients kept the service's rules, and what each plan would have done with their traffic. */
export function ConductSection() {
  const conduct = useDashboard(({ conduct }) => conduct)
  if (conduct === undefined) return null
  const { requests, senders, violations, warnings, whatIf } = conduct
  const aside = requests === 0 ? 'nothing yet' : `${counted(violations, 'violation')}, ${counted(warnings, 'warning')}`
  return (
    <Section id="conduct" title="Conduct" aside={aside}>
      {requests === 0 ? (
        <p class="muted">Clients are judged as they send: early retries, requests while banned, invalid requests …</p>
      ) : (
        <>
          {violations.length + warnings.length === 0 ? (
            <p>All {requests.toLocaleString('en')} requests kept the service's rules.</p>
          ) : (
            <ul class="findings">
              {violations.map((finding) => (
                <FindingItem key={keyOf(finding)} kind="violation" finding={finding} />
              ))}
              {warnings.map((finding) => (
                <FindingItem key={keyOf(finding)} kind="warning" finding={finding} />
              ))}
            </ul>
          )}
          <p class="muted">
            A key was taken to have {senders === 1 ? 'one sender' : `up to ${senders} senders`} of the same request at a
            time.
          </p>
          {whatIf.requests === 0 ? null : <WhatIfTable whatIf={whatIf} />}
        </>
      )}
    </Section>
  )
}

function FindingItem({ kind, finding }: { readonly kind: 'violation' | 'warning'; readonly finding: Finding }) {
  const { rule, key, message, count, otherwise, exchanges } = finding
  return (
    <li class={kind}>
      <span class={`tag ${kind}`}>{rule}</span> <span class="mono">{key}</span>{' '}
      <span class="muted">{count === 1 ? 'once' : `${count} times`}</span>
      <p>
        {message}
        {otherwise === undefined ? '' : ` With ${otherwise.senders} senders: ${otherwise.rule ?? 'nothing'}.`}
      </p>
      <ExchangeLinks ids={exchanges} />
    </li>
  )
}

function WhatIfTable({ whatIf }: { readonly whatIf: WhatIf }) {
  const { requests, peakMinute, peakDay, plans, configured, cheapest } = whatIf
  return (
    <>
      <h3>What each plan would have done</h3>
      <p class="muted">
        {requests.toLocaleString('en')} requests reached the quota; at most {peakMinute.toLocaleString('en')} of one key
        in a minute and {peakDay.toLocaleString('en')} in a day.{' '}
        {cheapest === null ? 'Every plan refuses some.' : `The smallest plan that refuses nothing: ${cheapest}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <section class="tablebox" aria-label="What each plan would have refused" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Plan</th>
              <th scope="col" class="number">
                A minute
              </th>
              <th scope="col" class="number">
                A day
              </th>
              <th scope="col" class="number">
                Refused
              </th>
              <th scope="col" class="number">
                by minute, day, ban
              </th>
            </tr>
          </thead>
          <tbody>
            {plans.map(({ plan, perMinute, perDay, ...refusals }) => (
              <tr key={plan}>
                <th scope="row">{plan}</th>
                <td class="number">{perMinute.toLocaleString('en')}</td>
                <td class="number">{perDay.toLocaleString('en')}</td>
                <RefusalCells {...refusals} />
              </tr>
            ))}
            <tr>
              <th scope="row">as configured</th>
              <td class="number" />
              <td class="number" />
              <RefusalCells {...configured} />
            </tr>
          </tbody>
        </table>
      </section>
    </>
  )
}

function RefusalCells({ refusals, refused }: Refusals) {
  return (
    <>
      <td class="number">{refusals.toLocaleString('en')}</td>
      <td class="number">
        {refused.minute}, {refused.day}, {refused.ban}
      </td>
    </>
  )
}

function counted(findings: readonly Finding[], what: string): string {
  return `${findings.length || 'no'} ${what}${findings.length === 1 ? '' : 's'}`
}

function keyOf({ rule, key, operation, message }: Finding): string {
  return `${rule} ${key} ${operation} ${message}`
}
