import { signal, useSignal } from '@preact/signals'
import { loggedKeyText } from '../../domain/keys.js'
import { addressOf } from '../../domain/space-address.js'
import { FILTER_FIELDS } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { Table } from '../content.js'
import { CloseButton, Dialog, Field, FormDialog, type ReadField } from '../ui.js'
import { replay } from './actions.js'
import { closeExchange } from './exchange-detail.js'
import { ownHeaders } from './recorded-request.js'
import { setFilter, step } from './session.js'
import { editing, selected, state } from './state.js'

const KEYS = [
  ['Ctrl-K  ⌘K', 'run a command'],
  ['/', 'go to the filter'],
  ['t', 'move the clock'],
  ['b', 'break the next requests'],
  ['j  k', 'older, newer exchange'],
  ['r', 'resend the open exchange'],
  ['e', 'edit and resend it'],
  ['Escape', 'close the dialog or exchange, or empty the filter'],
  ['?', 'this help'],
] as const

export const isHelpOpen = signal(false)
export const isPaletteOpen = signal(false)

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.closest('input, select, textarea, dialog')
  if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
    event.preventDefault()
    isPaletteOpen.value = true
    return
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return
  const exchange = selected.value
  if (event.key === '?') isHelpOpen.value = true
  else if (event.key === '/') document.querySelector<HTMLInputElement>('#filter')?.select()
  else if (event.key === 't') document.querySelector<HTMLElement>('#move-clock > summary')?.click()
  else if (event.key === 'b') document.querySelector<HTMLInputElement>('.sentence input')?.select()
  else if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1)
  else if (event.key === 'Escape') exchange === undefined ? setFilter('') : closeExchange()
  else if (exchange === undefined) return
  else if (event.key === 'e') editing.value = exchange
  else if (event.key === 'r')
    void replay(exchange.id).catch(() => {
      editing.value = exchange
    })
  else return
  event.preventDefault()
})

export function HelpDialog() {
  return isHelpOpen.value ? (
    <Dialog label="Help" onClose={() => (isHelpOpen.value = false)}>
      <h2>Keyboard</h2>
      <Table head={['Key', 'Action']} rows={KEYS} />
      <h2>Filter syntax</h2>
      <p class="muted">
        Words must all match: <code>4xx</code>, <code>&gt;500ms</code>, <code>timeout</code>, or a field and a colon (
        {FILTER_FIELDS.join(', ')}), as in <code>status:429 reason:storm body:"Rex"</code>. A minus negates a word:{' '}
        <code>-key:sandbox-pro</code>.
      </p>
      <div class="row end">
        <CloseButton>Close</CloseButton>
      </div>
    </Dialog>
  ) : null
}

export function ReplayDialog() {
  return editing.value === undefined ? null : <EditForm key={editing.value.id} exchange={editing.value} />
}

function EditForm({ exchange }: { readonly exchange: Exchange }) {
  const { id, key, sender, method, request } = exchange
  const isKnown = state.value?.keys.some((known) => known.key === key && !known.secret) === true
  const headers = ownHeaders(request, state.value?.keyHeader)
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n')
  // A text field changes line ends, and the log may have only a part.
  const body = useSignal<string | undefined>(undefined)
  function send(field: ReadField) {
    // Without the headers that were removed.
    const none = Object.fromEntries(headers.map(([name]) => [name, null]))
    const given = field('key')
    return replay(id, {
      ...(given !== undefined && { key: given }),
      method: field('method') ?? method,
      target: field('target') ?? '',
      headers: { ...none, ...readHeaders(field('headers') ?? '') },
      ...(body.value !== undefined && { body: body.value }),
    })
  }
  return (
    <FormDialog label="Edit and resend" isLarge submit="Send" onClose={() => (editing.value = undefined)} send={send}>
      <h2>Edit exchange {id} and resend it</h2>
      <div class="fields">
        <Field label="Method" name="method" defaultValue={method} required />
        <Field label="Path and query" name="target" class="grow" defaultValue={addressOf(exchange)} required />
        <Field
          label="Key"
          name="key"
          class="grow"
          defaultValue={isKnown ? loggedKeyText({ key, sender }) : ''}
          placeholder="not in the log"
        />
      </div>
      <Field label="Headers" name="headers" class="stack" rows={4} defaultValue={lines} />
      <Field label="Body" class="stack" rows={8} defaultValue={request.body} choose={(text) => (body.value = text)} />
    </FormDialog>
  )
}

function readHeaders(text: string): Record<string, string> {
  const lines = [...text.matchAll(/^([^:\n]+):(.*)$/gm)]
  return Object.fromEntries(lines.map(([, name = '', value = '']) => [name.trim().toLowerCase(), value.trim()]))
}
