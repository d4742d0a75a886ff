/** Names that are looked for first. */
const FIRST = /^(?:x-ratelimit-|retry-after|x-sandbox-reason)/

/** Headers, those about limits first. */
export function HeaderList({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const all = Object.entries(headers)
  if (all.length === 0) return <p class="muted">No headers.</p>
  const sorted = [...all.filter(([name]) => FIRST.test(name)), ...all.filter(([name]) => !FIRST.test(name))]
  return (
    <dl class="headers">
      {sorted.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
