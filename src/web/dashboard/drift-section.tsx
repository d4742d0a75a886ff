import type { DriftFinding } from '../../drift/ledger.js'
import { ExchangeLinks } from './exchange-links.js'
import { Section } from './section.js'
import { useDashboard } from './session-context.js'

/** How what the real service answers drifts from the contract; nothing where there is none. */
export function DriftSection() {
  const drift = useDashboard(({ drift }) => drift)
  if (drift === undefined) return null
  const { checked, drifted, unanswered, findings, leftOut } = drift
  const asked = checked + unanswered
  return (
    <Section id="drift" title="Drift" aside={asked === 0 ? 'nothing yet' : `${drifted} of ${checked} answers`}>
      {asked === 0 ? (
        <p class="muted">Each answer of the real service is held against the contract.</p>
      ) : findings.length === 0 ? (
        <p>
          {checked === 0
            ? 'The real service has given no answer that could be held against the contract.'
            : 'What the real service answered keeps the contract.'}
        </p>
      ) : (
        <ul class="findings">
          {findings.map((finding) => (
            <DriftItem key={`${finding.operation} ${finding.rule} ${finding.detail}`} finding={finding} />
          ))}
        </ul>
      )}
      {unanswered === 0 ? null : (
        <p class="muted">
          {unanswered.toLocaleString('en')} of {asked.toLocaleString('en')} requests got no answer that could be used.
        </p>
      )}
      {leftOut === 0 ? null : <p class="muted">And {leftOut.toLocaleString('en')} more findings.</p>}
    </Section>
  )
}

function DriftItem({ finding }: { readonly finding: DriftFinding }) {
  const { operation, rule, detail, count, exchanges } = finding
  return (
    <li>
      <span class="tag violation">{rule}</span> <span class="mono">{operation}</span>{' '}
      <span class="muted">{count === 1 ? 'once' : `${count.toLocaleString('en')} times`}</span>
      <p>{detail}</p>
      <ExchangeLinks ids={exchanges} />
    </li>
  )
}
