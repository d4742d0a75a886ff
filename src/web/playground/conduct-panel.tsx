import type { Finding } from '../../conduct/conduct-view.js'
import { useStore } from '../dashboard/store.js'
import type { SandboxView } from './sandbox-view.js'

/** How the client is judged, as it sends. */
export function ConductPanel({ view }: { readonly view: SandboxView }) {
  const conduct = useStore(view.store, (state) => state.conduct)
  if (conduct === undefined) return null
  const { requests, violations, warnings, whatIf } = conduct
  const verdict =
    requests === 0 ? 'unjudged' : violations.length > 0 ? 'violation' : warnings.length > 0 ? 'warning' : 'clean'
  return (
    <section class="panel" aria-labelledby="conduct">
      <div class="row between">
        <h2 id="conduct">How it behaves</h2>
        <span class={`tag ${verdict}`} role="status">
          {VERDICTS[verdict]}
        </span>
      </div>
      <ul class="findings">
        {[...violations, ...warnings].map((finding) => (
          <FindingItem key={`${finding.rule} ${finding.key} ${finding.operation}`} finding={finding} />
        ))}
      </ul>
      <p class="muted">
        {requests === 0
          ? 'Every request is judged by what the service asks of its clients: start the loop, let the quota run out, and change how it retries.'
          : `${requests === 1 ? 'One request' : `${requests.toLocaleString('en')} requests`} judged.${
              whatIf.cheapest === null ? '' : ` The plan ${whatIf.cheapest} would have refused none.`
            }`}
      </p>
    </section>
  )
}

function FindingItem({ finding }: { readonly finding: Finding }) {
  const { rule, message, count, exchanges } = finding
  return (
    <li>
      <a href={`__sandbox/#tab=log&filter=${encodeURIComponent(`id:${exchanges.join(',')}`)}`} class="mono">
        {rule}
      </a>{' '}
      <span class="muted">{count === 1 ? 'once' : `${count.toLocaleString('en')} times`}</span>
      <p>{message}</p>
    </li>
  )
}

const VERDICTS = {
  unjudged: 'nothing yet',
  clean: 'keeps the rules',
  warning: 'could do better',
  violation: 'breaks the rules',
} as const
