import type { Finding } from '../../conduct/conduct-view.js'
import { counted } from '../../domain/numbers.js'
import { clientName } from '../../exchanges/client-name.js'
import { Section } from './fields.js'
import { showFinding } from './lanes.js'
import { exchangeById } from './session.js'
import { conduct } from './state.js'
import { inZone } from './texts.js'

export function ConductPanel() {
  if (conduct.value === undefined) return null
  const { requests, senders, sendersStated, violations, warnings, notes } = conduct.value
  if (requests === 0)
    return (
      <Section id="conduct" title="Conduct" aside="nothing yet">
        <p class="muted">Requests are checked for early retries, requests while banned, invalid requests …</p>
      </Section>
    )
  const aside = `${counted(occurrences(violations), 'violation')}, ${counted(occurrences(warnings), 'warning')}`
  const subject = requests === 1 ? 'The one request' : `All ${requests.toLocaleString('en')} requests`
  return (
    <Section id="conduct" title="Conduct" aside={aside}>
      {violations.length + warnings.length === 0 ? <p>{subject} followed the service's rules.</p> : null}
      <ul class="rules">
        {[
          ...violations.map((finding) => ['failed', finding] as const),
          ...warnings.map((finding) => ['refused', finding] as const),
          ...notes.map((finding) => ['', finding] as const),
        ].map(([colour, finding], index) => (
          <FindingItem key={index} colour={colour} finding={finding} />
        ))}
      </ul>
      <p class="muted">
        {senders === 1 ? 'One client uses' : `${senders} clients share`} a key,{' '}
        {sendersStated ? 'as configured' : 'estimated from concurrent requests'}.
      </p>
    </Section>
  )
}

function FindingItem({ colour, finding }: { readonly colour: string; readonly finding: Finding }) {
  const { rule, key, sender, firstAt, message, count, exchanges } = finding
  const known = exchanges.flatMap((id) => exchangeById(id) ?? [])
  const clients = new Set(known.length === 0 ? [sender] : known.map(clientName))
  return (
    <li>
      <span class={`tag outcome ${colour} ${colour === '' ? '' : 'soft'}`}>{rule}</span>{' '}
      <b>{[...clients].join(', ')}</b> <span class="mono">{key}</span>{' '}
      <span class="muted">{counted(count, 'time')}</span>
      <p>{inZone(message, Date.parse(firstAt))}</p>
      <p>
        <button type="button" class="plain" onClick={() => showFinding(exchanges)}>
          {exchanges.length === 1 ? 'exchange' : 'exchanges'} {exchanges.slice(0, MAX_NAMED).join(', ')}
          {exchanges.length > MAX_NAMED ? ' …' : ''}
        </button>
      </p>
    </li>
  )
}

function occurrences(findings: readonly Finding[]): number {
  return findings.reduce((sum, { count }) => sum + count, 0)
}

const MAX_NAMED = 5
