import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ActionError } from './controls.js'
import { useAction } from './use-action.js'

interface ConfirmProps {
  readonly act: () => Promise<unknown>
  readonly question: string
  /** What is done, in a word or two. */
  readonly children: ComponentChildren
}

/** A button for something irreversible: it asks first. */
export function ConfirmButton({ label, ...question }: ConfirmProps & { readonly label?: string }) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <button type="button" aria-label={label} aria-haspopup="dialog" onClick={() => setAsking(true)}>
        {question.children}
      </button>
      {isAsking ? <ConfirmDialog {...question} end={() => setAsking(false)} /> : null}
    </>
  )
}

function ConfirmDialog({ act, question, children, end }: ConfirmProps & { end(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const action = useAction()
  const id = useId()
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={end}>
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
  )
}
