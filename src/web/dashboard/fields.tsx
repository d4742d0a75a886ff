import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { stringifyJson } from '../../contract/json.js'
import { ActionError, type Choice, Options, Select, useAction } from '../ui.js'

interface ButtonProps {
  /** Accessible name, if the text alone is unclear. */
  readonly label?: string
  readonly class?: string
  readonly title?: string
  readonly children: ComponentChildren
}

export function ActionButton({ act, label, children, ...rest }: ButtonProps & { act(): Promise<unknown> }) {
  const action = useAction()
  const isBusy = action.pending.value !== undefined
  return (
    <>
      <button type="button" {...rest} aria-label={label} aria-busy={isBusy} onClick={() => action.run(act)}>
        {children}
      </button>
      <ActionError action={action} />
    </>
  )
}

export function Field({
  label,
  choices,
  grows = false,
  choose,
  ...attributes
}: {
  readonly label: string
  readonly choices?: readonly Choice[]
  readonly grows?: boolean
  choose?(value: string): void
} & InputHTMLAttributes) {
  const { name, value } = attributes
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside, in either branch
    <label class={grows ? 'grow' : ''}>
      {label}
      {choices === undefined ? (
        <input autocomplete="off" spellcheck={false} {...attributes} />
      ) : (
        <select name={name} value={value} onChange={({ currentTarget }) => choose?.(currentTarget.value)}>
          <Options choices={choices} />
        </select>
      )}
    </label>
  )
}

/** Saves and shows each choice immediately. */
export function SavedSelect<Value extends string | number>({
  value,
  save,
  ...rest
}: Omit<Parameters<typeof Select<Value>>[0], 'choose'> & { save(value: Value): Promise<unknown> }) {
  const action = useAction<Value>()
  return (
    <>
      <Select
        {...rest}
        value={action.pending.value?.value ?? value}
        choose={(chosen) => action.run(() => save(chosen), chosen)}
      />
      <ActionError action={action} />
    </>
  )
}

interface SavedProps<Value> {
  readonly value: Value
  save(value: Value): Promise<unknown>
}

/** Saved with Enter or on blur; Escape reverts it. */
export function SavedInput({
  value,
  save,
  ...attributes
}: SavedProps<string> & { readonly id?: string; readonly 'aria-label'?: string; readonly placeholder?: string }) {
  const action = useAction()
  return (
    <>
      <input
        {...attributes}
        defaultValue={value}
        key={value}
        autocomplete="off"
        spellcheck={false}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape') currentTarget.value = value
          if (key === 'Enter' || key === 'Escape') currentTarget.blur()
        }}
        onBlur={({ currentTarget: { value: text } }) => text !== value && action.run(() => save(text))}
      />
      <ActionError action={action} />
    </>
  )
}

/** A select for choices, else an input. */
export function SavedField<Value extends string | number>({
  label,
  choices,
  save,
  ...rest
}: SavedProps<Value> & { readonly label: string; readonly choices?: readonly Value[]; readonly placeholder?: string }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices === undefined ? (
        <SavedInput id={id} {...rest} value={String(rest.value)} save={(text) => save(text as Value)} />
      ) : (
        <SavedSelect id={id} choices={choices} save={save} {...rest} />
      )}
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
  /** State, beside the title. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <details class="card" id={id} open>
      <summary>
        <h2>{title}</h2>
        <span class="aside">{aside}</span>
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
