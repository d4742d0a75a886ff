import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { type Action, useAction, useOptimistic } from './use-action.js'

/** What went wrong with a control, beside it. */
export function ActionError({ action }: { readonly action: Action }) {
  return action.error === undefined ? null : (
    <p class="error" role="alert">
      {action.error}
    </p>
  )
}

/** A button that does one thing; if that fails, it says so itself. */
export function ActionButton({
  act,
  label,
  children,
  ...rest
}: {
  readonly act: () => Promise<unknown>
  /** Accessible name, where the text alone does not say enough. */
  readonly label?: string
  readonly class?: string
  readonly children: ComponentChildren
}) {
  const action = useAction()
  return (
    <>
      <button type="button" {...rest} aria-label={label} aria-busy={action.isBusy} onClick={() => action.run(act)}>
        {children}
      </button>
      <ActionError action={action} />
    </>
  )
}

interface FieldProps<Value> {
  readonly label: string
  readonly value: Value
  save(value: Value): Promise<unknown>
}

/** One of a few words, saved as it is chosen. */
export function ChoiceField<Value extends string | number>({
  label,
  value,
  choices,
  save,
}: FieldProps<Value> & { readonly choices: readonly Value[] }) {
  const { shown, ask, action } = useOptimistic(value)
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={shown}
        onChange={({ currentTarget }) => {
          const chosen = choices[currentTarget.selectedIndex]
          if (chosen !== undefined) ask(chosen, () => save(chosen))
        }}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
      <ActionError action={action} />
    </div>
  )
}

/** A text field, saved with Enter or on blur; Escape reverts it. */
export function TextField({ label, value, hint, save }: FieldProps<string> & { readonly hint?: string }) {
  const action = useAction()
  const [draft, setDraft] = useState<string>()
  const id = useId()
  async function finish() {
    if (draft === undefined || draft === value) setDraft(undefined)
    else if (await action.run(() => save(draft))) setDraft(undefined)
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={draft ?? value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        onBlur={finish}
        onKeyDown={({ key }) => {
          if (key === 'Enter') void finish()
          if (key === 'Escape') setDraft(undefined)
        }}
      />
      <ActionError action={action} />
    </div>
  )
}

/** A yes or no, saved as it is chosen. */
export function SwitchField({ label, value, save }: FieldProps<boolean>) {
  const { shown, ask, action } = useOptimistic(value)
  return (
    <div class="field">
      <label class="switch">
        <input
          type="checkbox"
          checked={shown}
          onChange={({ currentTarget: { checked } }) => ask(checked, () => save(checked))}
        />
        {label}
      </label>
      <ActionError action={action} />
    </div>
  )
}
