import { Section } from './section.js'
import { useDashboard } from './session-context.js'

/** The replicas that are this sandbox, with how far each is; nothing of a sandbox by itself. */
export function ReplicasSection() {
  const replicas = useDashboard(({ replicas }) => replicas)
  if (replicas.length === 0) return null
  return (
    <Section id="replicas" title="Replicas" aside={replicas.length}>
      <ul class="rules">
        {replicas.map(({ name, address, version, position, lagMs, isThis }) => (
          <li key={name} class="row between">
            <span class="mono grow">{address === '' ? name : address}</span>
            <span class="muted">
              {version}, {position} commands, lag {lagMs} ms
            </span>
            {isThis ? <span class="tag">this one</span> : null}
          </li>
        ))}
      </ul>
    </Section>
  )
}
