import type { ExchangeMessage } from '../../exchanges/exchange-view.js'
import { readableBody } from './readable-body.js'

/** Headers and body of one side of an exchange. */
export function MessageView({ title, message }: { readonly title: string; readonly message: ExchangeMessage }) {
  const headers = Object.entries(message.headers)
  return (
    <section class="message" aria-label={title}>
      <h3>{title}</h3>
      {headers.length === 0 ? (
        <p class="muted">No headers.</p>
      ) : (
        <dl class="headers">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {message.body === '' ? (
        <p class="muted">No body.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
        <pre tabIndex={0}>{readableBody(message.body)}</pre>
      )}
    </section>
  )
}
