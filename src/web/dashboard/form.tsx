import type { ComponentChildren } from 'preact'
import { ActionError } from './controls.js'
import { useAction } from './use-action.js'

/** A form that performs one verb; its fields are read by name. It is cleared afterwards, unless `keeps` is set. */
export function Form({
  label,
  send,
  keeps = false,
  children,
}: {
  readonly label: string
  /** @param field gives the text of a field, undefined for an empty one */
  send(field: (name: string) => string | undefined): Promise<unknown>
  readonly keeps?: boolean
  readonly children: ComponentChildren
}) {
  const action = useAction()
  return (
    <form
      class="fields"
      aria-label={label}
      onSubmit={async (event) => {
        event.preventDefault()
        const form = event.currentTarget
        const fields = new FormData(form)
        const field = (name: string) => {
          const value = fields.get(name)
          return typeof value === 'string' && value.trim() !== '' ? value : undefined
        }
        if ((await action.run(() => send(field))) && !keeps) form.reset()
      }}
    >
      {children}
      <ActionError action={action} />
    </form>
  )
}
