import { type Finding, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import { evidenceText, RULE_VERDICTS } from '../../conduct/verdict-words.js'
import { counted } from '../../domain/numbers.js'
import { Section } from './fields.js'
import { allFindings } from './findings.js'
import { showFinding } from './lanes.js'
import { conduct } from './state.js'
import { countText, inZone } from './texts.js'

/** As the terminal prints it, by client. */
export function ConductPanel() {
  if (conduct.value === undefined) return null
  const { requests, senders, sendersStated, violations, warnings } = conduct.value
  if (requests === 0)
    return (
      <Section id="conduct" title="Conduct" aside="nothing yet">
        <p class="muted">Requests are checked for early retries, requests while banned, invalid requests …</p>
      </Section>
    )
  const byClient = new Map<string, Finding[]>()
  for (const finding of allFindings(conduct.value)) {
    const { key, sender, clients } = finding
    const name = `${sender || clients.join(', ')} ${key}`.trim()
    byClient.set(name, [...(byClient.get(name) ?? []), finding])
  }
  const aside = `${countText(occurrences(violations), 'violation')}, ${countText(occurrences(warnings), 'warning')}`
  return (
    <Section id="conduct" title="Conduct" aside={aside}>
      <p class="muted">
        {countText(requests, 'request')} since the start
        {byClient.size === 0 ? ", which followed the service's rules" : ''}. Conduct counts {counted(senders, 'sender')}{' '}
        per key
        {sendersStated
          ? ', as configured.'
          : senders === 1
            ? ': no two equal requests of a key were open at once.'
            : ', as many as equal requests of a key were open at once.'}
      </p>
      {[...byClient].map(([name, findings]) => (
        <section key={name} aria-label={name}>
          <h3>{name}</h3>
          <ul class="rules">
            {findings.map((finding, index) => (
              <FindingItem key={index} finding={finding} />
            ))}
          </ul>
        </section>
      ))}
    </Section>
  )
}

function FindingItem({ finding }: { readonly finding: Finding }) {
  const { rule, firstAt, count, exchanges } = finding
  const isOf = (rules: readonly string[]) => rules.includes(rule)
  const [mark, colour] = isOf(VIOLATIONS) ? ['✗', 'failed'] : isOf(WARNINGS) ? ['!', 'refused'] : ['–', '']
  return (
    <li>
      <p class="row between">
        <b class={`outcome ${colour}`}>
          {mark} {RULE_VERDICTS[rule]} ({rule})
        </b>
        <span class="muted">{countText(count, 'time')}</span>
      </p>
      <p class="evidence">{inZone(evidenceText(finding), Date.parse(firstAt))}</p>
      <p>
        <button type="button" class="plain" onClick={() => showFinding(finding)}>
          {exchanges.length === 1 ? 'exchange' : 'exchanges'} {exchanges.slice(0, MAX_NAMED).join(', ')}
          {count > Math.min(exchanges.length, MAX_NAMED) ? ' …' : ''}
        </button>
      </p>
    </li>
  )
}

export function occurrences(findings: readonly Finding[]): number {
  return findings.reduce((sum, { count }) => sum + count, 0)
}

const MAX_NAMED = 5
