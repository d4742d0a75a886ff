import { useEffect, useRef } from 'preact/hooks'
import { FILTER_FIELDS } from './exchange-filter.js'
import { useSession } from './session-context.js'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'to the filter'],
  ['j  k', 'next, previous exchange'],
  ['r', 'send the open one again'],
  ['e', 'change it before'],
  ['Escape', 'close what is open'],
  ['?', 'this help'],
]

/** The keys, and what the filter understands; opened by "?". */
export function HelpDialog() {
  const session = useSession()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const { selected } = session.store.get()
      if (event.key === '?') dialog.current?.showModal()
      else if (event.key === '/') document.querySelector<HTMLElement>('#filter')?.focus()
      else if (event.key === 'j' || event.key === 'k') session.step(event.key === 'j' ? 1 : -1)
      else if (event.key === 'r' && selected !== undefined)
        void session.replay(selected.id).catch(() => session.edit(selected))
      else if (event.key === 'e' && selected !== undefined) session.edit(selected)
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [session])
  return (
    <dialog ref={dialog} aria-label="Help">
      <h2>Keys</h2>
      <dl class="keyhelp">
        {KEYS.map(([key, what]) => (
          <div key={key} class="keyline">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h2>Words of the filter</h2>
      <p class="muted">
        Words must all match: <code>4xx</code>, <code>&gt;500ms</code>, <code>pets</code>, or a field and a colon (
        {FILTER_FIELDS.join(', ')}), as in <code>status:429 reason:storm body:"Rex"</code>. A minus turns one round:{' '}
        <code>-key:sandbox-pro</code>.
      </p>
      <div class="row end">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null
}
