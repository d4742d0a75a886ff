import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { ActionError } from './controls.js'
import { useAction } from './use-action.js'

/** A button for what cannot be taken back: it asks first. */
export function ConfirmButton({
  act,
  label,
  question,
  children,
}: {
  readonly act: () => Promise<unknown>
  readonly label?: string
  readonly question: string
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const action = useAction()
  const id = useId()
  return (
    <>
      <button type="button" aria-label={label} aria-haspopup="dialog" onClick={() => dialog.current?.showModal()}>
        {children}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <p id={id}>{question}</p>
        <ActionError action={action} />
        <div class="row end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="button"
            class="danger"
            onClick={async () => {
              if (await action.run(act)) dialog.current?.close()
            }}
          >
            {children}
          </button>
        </div>
      </dialog>
    </>
  )
}
