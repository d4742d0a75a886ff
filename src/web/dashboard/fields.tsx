import type { ComponentChildren, HTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { stringifyJson } from '../../contract/json.js'
import { ActionError, type Choice, Field, useAction } from '../ui.js'
import { connection, notice } from './state.js'

interface ButtonProps extends Pick<HTMLAttributes<HTMLButtonElement>, 'onPointerEnter' | 'onFocusIn'> {
  /** Accessible name, if the text alone is unclear. */
  readonly label?: string
  readonly class?: string
  readonly disabled?: boolean
  readonly children: ComponentChildren
  act(): Promise<unknown>
}

export function ActionButton({ act, label, disabled = false, children, ...rest }: ButtonProps) {
  const action = useAction<true>()
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
          if (!(await action.run(act, true)) && isInMenu) notice.value = action.error.value
        }}
      >
        {children}
      </button>
      <ActionError error={action.error} />
    </>
  )
}

interface SavedProps {
  readonly label?: string
  readonly 'aria-label'?: string
  readonly value: string
  readonly choices?: readonly Choice[] | undefined
  readonly placeholder?: string
  /** A checkbox has the values `true` and `false`. */
  readonly type?: 'checkbox' | 'text'
  save(value: string): Promise<unknown>
}

/** A choice is saved and shown immediately; a text with Enter or on blur, and Escape reverts it. */
export function SavedField({ label, value, save, ...attributes }: SavedProps) {
  const action = useAction<string>()
  const id = useId()
  const store = (given: string) => action.run(() => save(given), given)
  const shown = action.pending.value ?? value
  return (
    <div class="field stack">
      {label === undefined ? null : <label for={id}>{label}</label>}
      {attributes.type === 'checkbox' ? (
        <input
          type="checkbox"
          id={id}
          checked={shown === 'true'}
          onChange={({ currentTarget: { checked } }) => store(String(checked))}
        />
      ) : attributes.choices === undefined ? (
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
        <Field {...attributes} id={id} value={shown} choose={store} />
      )}
      <ActionError error={action.error} />
    </div>
  )
}

interface SectionProps {
  readonly id: string
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ id, title, aside, children }: SectionProps) {
  return (
    <details class="card" id={id} open>
      <summary>
        <h2>{title}</h2>
        <span class="aside muted">{aside}</span>
      </summary>
      <div class="stack">{children}</div>
    </details>
  )
}

/** Saves a value as JSON. */
export function saveFile(name: string, content: unknown): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([stringifyJson(content, 2)], { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
