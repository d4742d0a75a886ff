import { memo } from 'preact/compat'
import type { Pet } from '../../contract/entities.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { ConfirmButton } from './confirm-button.js'
import { ActionError } from './controls.js'
import { useSession } from './session-context.js'
import { useAction } from './use-action.js'

/** One pet. Its name is whatever a client sent, so it is text and nothing else. */
export const PetRow = memo(function PetRow({ pet: { id, name, categoryId, status } }: { readonly pet: Pet }) {
  const session = useSession()
  const action = useAction()
  return (
    <tr>
      <td>
        <div class="pet">
          <span class="name">{name}</span>
          <span class="muted">
            <span class="mono">{String(id)}</span>, category <span class="mono">{String(categoryId)}</span>
          </span>
        </div>
      </td>
      <td>
        <select
          aria-label={`Status of ${name}, pet ${id}`}
          value={status ?? ''}
          onChange={async ({ currentTarget }) => {
            const chosen = PET_STATUSES.find((word) => word === currentTarget.value) ?? null
            const change = { id, status: chosen }
            if (
              !(await action.run(() => session.call('pets.set', change, `${name} is ${chosen ?? 'without a status'}.`)))
            )
              currentTarget.value = status ?? ''
          }}
        >
          {PET_STATUSES.map((word) => (
            <option key={word}>{word}</option>
          ))}
          <option value="">none</option>
        </select>
        <ActionError action={action} />
      </td>
      <td>
        <ConfirmButton
          label={`Remove ${name}, pet ${id}`}
          question={`Remove ${name} (${id})? Its id is not reused.`}
          act={() => session.call('pets.remove', { id }, `${name} is removed.`)}
        >
          Remove
        </ConfirmButton>
      </td>
    </tr>
  )
})
