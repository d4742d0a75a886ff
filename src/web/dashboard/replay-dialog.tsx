import { useEffect, useRef } from 'preact/hooks'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { ActionError } from './controls.js'
import { addressOf } from './exchange-filter.js'
import { useDashboard, useSession } from './session-context.js'
import { useAction } from './use-action.js'

/** A request, to be changed before it is sent again. */
export function ReplayDialog() {
  const exchange = useDashboard(({ editing }) => editing)
  return exchange === undefined ? null : <EditForm key={exchange.id} exchange={exchange} />
}

/** What comes from the connection, or is worked out afresh. */
const OWN = new Set(['authorization', 'connection', 'content-length', 'host', 'transfer-encoding'])

function EditForm({ exchange }: { readonly exchange: Exchange }) {
  const session = useSession()
  const isOpen = useDashboard(({ state }) => state?.keys.some(({ key, secret }) => key === exchange.key && !secret))
  const action = useAction()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const { id, key, space, method, request } = exchange
  const headers = Object.entries(request.headers).filter(([name]) => !OWN.has(name))
  const shownKey = isOpen === true ? (space === '' ? key : `${key}~${space}`) : ''
  return (
    <dialog ref={dialog} class="large" aria-label="Change and send again" onClose={() => session.edit(undefined)}>
      <form
        onSubmit={async (event) => {
          event.preventDefault()
          const fields = new FormData(event.currentTarget)
          const field = (name: string) => String(fields.get(name) ?? '')
          const written = readHeaders(field('headers'))
          const gone = headers.filter(([name]) => !(name in written)).map(([name]) => [name, null] as const)
          const change = {
            ...(field('key') === '' ? {} : { key: field('key') }),
            method: field('method'),
            target: field('target'),
            headers: { ...Object.fromEntries(gone), ...written },
            body: field('body'),
          }
          if (await action.run(() => session.replay(id, change))) dialog.current?.close()
        }}
      >
        <h2>Change exchange {id} and send it again</h2>
        <div class="fields">
          <label>
            Method
            <input name="method" defaultValue={method} required autocomplete="off" />
          </label>
          <label class="grow">
            Path and query
            <input name="target" class="mono" defaultValue={addressOf(exchange)} required autocomplete="off" />
          </label>
          <label class="grow">
            Key
            <input
              name="key"
              class="mono"
              defaultValue={shownKey}
              placeholder="none that the log has"
              autocomplete="off"
            />
          </label>
        </div>
        <label class="stacked">
          Headers
          <textarea name="headers" rows={4} class="mono" spellcheck={false}>
            {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          </textarea>
        </label>
        <label class="stacked">
          Body
          <textarea name="body" rows={8} class="mono" spellcheck={false}>
            {request.body}
          </textarea>
        </label>
        <ActionError action={action} />
        <div class="row end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-busy={action.isBusy}>
            Send
          </button>
        </div>
      </form>
    </dialog>
  )
}

function readHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]]
    }),
  )
}
