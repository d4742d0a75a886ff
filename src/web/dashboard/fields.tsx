import type { ComponentChildren, HTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { stringifyJson } from '../../contract/json.js'
import { ActionError, type Choice, Field, useAction } from '../ui.js'
import { connection, notice } from './state.js'

interface ButtonProps {
  /** Accessible name, if the text alone is unclear. */
  readonly label?: string
  readonly class?: string
  readonly title?: string
  readonly disabled?: boolean
  readonly children: ComponentChildren
}

export function ActionButton({
  act,
  label,
  disabled = false,
  children,
  ...rest
}: ButtonProps & { act(): Promise<unknown> } & Pick<
    HTMLAttributes<HTMLButtonElement>,
    'onPointerEnter' | 'onFocusIn'
  >) {
  const action = useAction()
  const isBusy = action.pending.value !== undefined
  return (
    <>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-busy={isBusy}
        disabled={disabled || connection.value === 'lost'}
        onClick={async ({ currentTarget }) => {
          const isInMenu = currentTarget.closest('.menu') !== null
          // A menu closes, and hides the error below.
          if (!(await action.run(act)) && isInMenu) notice.value = action.error.value
        }}
      >
        {children}
      </button>
      <ActionError action={action} />
    </>
  )
}

/** A choice is saved and shown immediately; a text with Enter or on blur, and Escape reverts it. */
export function SavedField({
  label,
  value,
  save,
  ...attributes
}: {
  readonly label?: string
  readonly 'aria-label'?: string
  readonly value: string
  readonly choices?: readonly Choice[]
  readonly placeholder?: string
  readonly disabled?: boolean
  save(value: string): Promise<unknown>
}) {
  const action = useAction<string>()
  const id = useId()
  const store = (given: string) => action.run(() => save(given), given)
  return (
    <div class="field">
      {label === undefined ? null : <label for={id}>{label}</label>}
      {attributes.choices === undefined ? (
        <Field
          {...attributes}
          id={id}
          defaultValue={value}
          key={value}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Escape') currentTarget.value = value
            if (key === 'Enter' || key === 'Escape') currentTarget.blur()
          }}
          onBlur={({ currentTarget: { value: text } }) => text !== value && store(text)}
        />
      ) : (
        <Field {...attributes} id={id} value={action.pending.value?.value ?? value} choose={store} />
      )}
      <ActionError action={action} />
    </div>
  )
}

export function Section({
  id,
  title,
  aside,
  children,
}: {
  readonly id: string
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <details class="card" id={id} open>
      <summary class="row">
        <h2>{title}</h2>
        <span class="aside push muted">{aside}</span>
      </summary>
      <div class="stack">{children}</div>
    </details>
  )
}

/** @param content text, or a value saved as JSON */
export function saveFile(name: string, content: unknown): void {
  const text = typeof content === 'string' ? content : stringifyJson(content, 2)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
