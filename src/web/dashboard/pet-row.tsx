import { memo } from 'preact/compat'
import type { Pet } from '../../contract/entities.js'
import { parseInt64 } from '../../contract/int64.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { ActionButton, ActionError } from './controls.js'
import { useSession } from './session-context.js'
import { type Action, useAction, useOptimistic } from './use-action.js'

/** One pet, edited where it stands. Its name is whatever a client sent, so it is text and nothing else. */
export const PetRow = memo(function PetRow({ pet: { id, name, categoryId, status } }: { readonly pet: Pet }) {
  const session = useSession()
  const action = useAction()
  const { shown, ask, action: choosing } = useOptimistic(status ?? null)
  const called = name.length > 60 ? `${name.slice(0, 60)}…` : name
  return (
    <tr>
      <td>
        <Cell label={`Name of pet ${id}`} value={name} action={action} save={(text) => change({ name: text })} />
        <span class="mono muted">{String(id)}</span>
      </td>
      <td>
        <Cell
          label={`Category of pet ${id}`}
          value={String(categoryId)}
          action={action}
          save={async (text) => {
            const category = parseInt64(text.trim())
            if (category === undefined) throw new Error('The category must be a whole number (int64).')
            await change({ categoryId: category })
          }}
        />
      </td>
      <td>
        <select
          aria-label={`Status of ${called}, pet ${id}`}
          value={shown ?? ''}
          onChange={({ currentTarget }) => {
            const chosen = PET_STATUSES.find((word) => word === currentTarget.value) ?? null
            ask(chosen, () => change({ status: chosen }))
          }}
        >
          {PET_STATUSES.map((word) => (
            <option key={word}>{word}</option>
          ))}
          <option value="">none</option>
        </select>
        <ActionError action={choosing} />
        <ActionError action={action} />
      </td>
      <td>
        <ActionButton
          label={`Remove ${called}, pet ${id}`}
          act={() => session.call('pets.remove', { id }, `${called} is removed.`)}
        >
          ×
        </ActionButton>
      </td>
    </tr>
  )

  function change(fields: {
    readonly name?: string
    readonly categoryId?: Pet['categoryId']
    readonly status?: Pet['status'] | null
  }) {
    const what =
      'status' in fields ? `${called} is ${fields.status ?? 'without a status'}.` : `The pet ${id} is changed.`
    return session.call('pets.set', { id, ...fields } as Parameters<typeof session.call<'pets.set'>>[1], what)
  }
})

/** A field that is saved when it is left, or by Enter; Escape takes it back. */
function Cell({
  label,
  value,
  action,
  save,
}: {
  readonly label: string
  readonly value: string
  readonly action: Action
  save(text: string): Promise<unknown>
}) {
  return (
    <input
      aria-label={label}
      defaultValue={value}
      key={value}
      autocomplete="off"
      spellcheck={false}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') currentTarget.value = value
        if (key === 'Enter' || key === 'Escape') currentTarget.blur()
      }}
      onBlur={async ({ currentTarget }) => {
        const text = currentTarget.value
        if (text !== value && !(await action.run(() => save(text)))) currentTarget.value = value
      }}
    />
  )
}
