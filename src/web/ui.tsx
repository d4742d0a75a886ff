import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { connection, hasControlToken } from './control-api.js'
import { messageOf } from './format.js'

const escapes = signal(0)
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') escapes.value++
})

/** While it runs, `pending` has a value. The error stays until the next run, Escape, or a change of the connection. */
export function useAction<Value>() {
  const error = useSignal('')
  const pending = useSignal<Value>()
  useEffect(() => {
    error.value = ''
  }, [connection.value, escapes.value])
  return {
    error,
    pending,
    /** @returns whether it succeeded; `error` has the reason otherwise */
    async run(act: () => Promise<unknown>, value: Value): Promise<boolean> {
      pending.value = value
      error.value = ''
      try {
        await act()
        return true
      } catch (failure) {
        error.value = messageOf(failure)
        return false
      } finally {
        if (pending.value === value) pending.value = undefined
      }
    },
  }
}

export function ActionError({ error }: { readonly error: Signal<string> }) {
  return error.value === '' ? null : (
    <p class="error" role="alert">
      {error}
    </p>
  )
}

interface MenuProps {
  readonly label: ComponentChildren
  readonly children: ComponentChildren
  readonly id?: string
  readonly title?: string
}

/** A button that opens actions below it. A choice, Escape or a click elsewhere closes it. */
export function Menu({ label, children, ...attributes }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const isOpen = useSignal(false)
  const close = () => menu.current?.removeAttribute('open')
  useLayoutEffect(() => {
    if (!isOpen.value) return
    keepOnScreen(menu.current?.querySelector('div') ?? null)
    // Opened by a key of the page.
    if (!menu.current?.contains(document.activeElement)) menu.current?.querySelector('button')?.focus()
  }, [isOpen.value])
  return (
    <details
      ref={menu}
      class="menu"
      inert={connection.value === 'lost'}
      {...attributes}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
      onFocusOut={({ currentTarget, relatedTarget }) =>
        relatedTarget instanceof Node && currentTarget.contains(relatedTarget) ? undefined : close()
      }
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || menu.current?.open !== true) return
        event.stopPropagation()
        close()
        menu.current.querySelector('summary')?.focus()
      }}
    >
      <summary>{label} ▾</summary>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: closes after a click on one of its buttons */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a button that is pressed by a key is clicked */}
      <div
        class="stack"
        onClick={({ target }) => {
          if (!(target instanceof Element) || target.closest('[type=button]') === null) return
          menu.current?.querySelector('summary')?.focus()
          close()
        }}
      >
        {isOpen.value ? children : null}
      </div>
    </details>
  )
}

/** Below its button, or as far beside it as it needs. */
function keepOnScreen(list: HTMLElement | null): void {
  if (list === null) return
  list.style.translate = ''
  const { left, right } = list.getBoundingClientRect()
  const margin = 8
  const shift = Math.max(margin - left, Math.min(0, document.documentElement.clientWidth - margin - right))
  list.style.translate = `${shift}px`
}

export function CloseButton({ children }: { readonly children: string }) {
  return (
    <button type="button" onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}>
      {children}
    </button>
  )
}

interface DialogProps {
  readonly label: string
  readonly isLarge?: boolean
  readonly children: ComponentChildren
  /** Without it, only code closes the dialog. */
  onClose?(): void
}

export function Dialog({ label, isLarge = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Returns the focus to where it was.
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={isLarge ? 'large' : ''}
      aria-label={label}
      onClose={() => onClose?.()}
      onCancel={(event) => onClose === undefined && event.preventDefault()}
    >
      <div class="stack">{children}</div>
    </dialog>
  )
}

export type ReadField = (name: string) => string | undefined

interface FormProps {
  readonly label?: string
  readonly keeps?: boolean
  readonly class?: string
  readonly children: ComponentChildren
  send(field: ReadField): Promise<unknown>
}

/** Clears its fields after sending (unless `keeps` is set), and closes its dialog. */
export function Form({ label, send, keeps = false, class: style = 'fields', children }: FormProps) {
  const action = useAction<true>()
  return (
    <form
      class={style}
      aria-label={label}
      inert={connection.value === 'lost'}
      onSubmit={async (event) => {
        event.preventDefault()
        const form = event.currentTarget
        const fields = new FormData(form)
        const field = (name: string) => {
          const value = fields.get(name)
          return typeof value === 'string' && value.trim() !== '' ? value : undefined
        }
        if (!(await action.run(() => send(field), true))) return
        if (!keeps) form.reset()
        form.closest('dialog')?.close()
        form.closest('details.menu')?.removeAttribute('open')
      }}
    >
      {children}
      <ActionError error={action.error} />
    </form>
  )
}

export function FormDialog({
  submit,
  send,
  children,
  ...dialog
}: DialogProps & FormProps & { readonly submit: string }) {
  return (
    <Dialog {...dialog}>
      <Form class="stack" keeps send={send}>
        {children}
        <div class="row end">
          {dialog.onClose === undefined ? null : <CloseButton>Cancel</CloseButton>}
          <button type="submit" class="primary">
            {submit}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

export type Choice<Value = string> = Value | readonly [value: Value, text: string]

interface FieldProps<Value> extends Omit<InputHTMLAttributes, 'label' | 'value'> {
  readonly label?: string
  /** Of a text with several lines. */
  readonly rows?: number
  /** Of the label, or of a control without one. */
  readonly class?: string
  readonly value?: Value
  readonly choices?: readonly Choice<Value>[] | undefined
  choose?(value: Value): void
}

/** A select for choices, else a field for text; inside its label, if it has one. */
export function Field<Value extends string>({
  label,
  class: style,
  choices,
  choose,
  ...attributes
}: FieldProps<Value>) {
  const own: object = label === undefined ? { ...attributes, class: style } : attributes
  const listen = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    choose?.(currentTarget.value as Value)
  const Text = attributes.rows === undefined ? 'input' : 'textarea'
  const control =
    choices === undefined ? (
      <Text autocomplete="off" spellcheck={false} onInput={listen} {...own} />
    ) : (
      <select {...own} onChange={listen}>
        {choices.map((choice) => {
          const [value, text] = typeof choice === 'string' ? [choice, choice] : choice
          return (
            <option key={value} value={value}>
              {text}
            </option>
          )
        })}
      </select>
    )
  if (label === undefined) return control
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside
    <label class={style}>
      {label} {control}
    </label>
  )
}

interface ToggleProps<Name> {
  readonly label: string
  readonly names: readonly Name[]
  readonly value: Name
  readonly children?: ComponentChildren
  choose(name: Name): void
}

export function Toggle<Name extends string>({ label, names, value, choose, children }: ToggleProps<Name>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="tabs" role="group" aria-label={label}>
      {names.map((name) => (
        <button type="button" key={name} aria-pressed={name === value} onClick={() => choose(name)}>
          {name}
        </button>
      ))}
      {children}
    </div>
  )
}

export function TokenDialog({ enter }: { enter(token: string): void }) {
  const wasRejected = hasControlToken()
  return (
    <FormDialog label="Control token" submit="Unlock" send={async (field) => enter(field('token') ?? '')}>
      <Field
        label="This sandbox requires a control token."
        class="stack"
        name="token"
        type="password"
        required
        aria-label="Control token"
      />
      {wasRejected ? (
        <p class="error" role="alert">
          The sandbox rejected this token.
        </p>
      ) : (
        <p class="muted">Enter the value of --control-token. It is stored in this tab only.</p>
      )}
    </FormDialog>
  )
}
