import { useSignal, useSignalEffect } from '@preact/signals'
import { memo } from 'preact/compat'
import type { Pet } from '../../contract/entities.js'
import { parseInt64 } from '../../contract/int64.js'
import { stringifyJson } from '../../contract/json.js'
import { counted } from '../../domain/numbers.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { callVerb } from '../control-api.js'
import { announce, call, removeSpace, showMorePets, showSpace } from '../session.js'
import { PETS_PER_PAGE, pets, replicas, snapshots, space, spaces, state } from '../state.js'
import {
  ActionButton,
  Field,
  Form,
  FormDialog,
  Pre,
  type ReadField,
  SavedInput,
  SavedSelect,
  ScrollBox,
  Section,
} from '../ui.js'

export function DataPanel() {
  return (
    <>
      <PetsSection />
      <OrdersSection />
      <SnapshotsSection />
      <SpacesSection />
      {replicas.value.length === 0 ? null : <ReplicasSection />}
    </>
  )
}

function PetsSection() {
  const shown = pets.value
  const all = state.value?.counts.pets ?? shown.length
  return (
    <Section id="pets" title="Pets" aside={all.toLocaleString('en')}>
      <Form label="Add a pet" send={addPet}>
        <Field label="Name" name="name" required grows />
        <Field label="Category" name="category" required inputMode="numeric" defaultValue="1" />
        <Field label="Status" name="status" choices={[...PET_STATUSES, ['', 'none']]} />
        <button type="submit">Add pet</button>
      </Form>
      <ScrollBox label="Pets, newest first">
        <table class="pets">
          <thead>
            <tr>
              <th scope="col">Pet</th>
              <th scope="col">Category</th>
              <th scope="col">Status</th>
              <th scope="col">
                <span class="hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((pet) => (
              <PetRow key={String(pet.id)} pet={pet} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {all > shown.length && shown.length > 0 ? (
        <div class="row">
          <span class="muted">
            The newest {shown.length} of {all.toLocaleString('en')}.
          </span>
          <ActionButton act={showMorePets}>Show {PETS_PER_PAGE} more</ActionButton>
        </div>
      ) : null}
    </Section>
  )
}

async function addPet(field: ReadField): Promise<void> {
  const categoryId = readCategory(field('category') ?? '')
  const status = PET_STATUSES.find((word) => word === field('status'))
  const { id } = await call('pets.add', { name: field('name') ?? '', categoryId, ...(status && { status }) })
  announce(`The pet ${id} is added.`)
}

function readCategory(text: string): Pet['categoryId'] {
  const category = parseInt64(text.trim())
  if (category === undefined) throw new Error('The category must be a whole number (int64).')
  return category
}

/** The name comes from a client: render it as text only. */
const PetRow = memo(function PetRow({ pet: { id, name, categoryId, status } }: { readonly pet: Pet }) {
  const short = name.length > 60 ? `${name.slice(0, 60)}…` : name
  const change = (fields: object, done = `The pet ${id} is changed.`) =>
    call('pets.set', { id, ...fields } as Parameters<typeof call<'pets.set'>>[1], done)
  return (
    <tr>
      <td>
        <SavedInput aria-label={`Name of pet ${id}`} value={name} save={(text) => change({ name: text })} />
        <span class="mono muted">{String(id)}</span>
      </td>
      <td>
        <SavedInput
          aria-label={`Category of pet ${id}`}
          value={String(categoryId)}
          save={async (text) => change({ categoryId: readCategory(text) })}
        />
      </td>
      <td>
        <SavedSelect
          aria-label={`Status of ${short}, pet ${id}`}
          value={status ?? ''}
          choices={[...PET_STATUSES, '']}
          texts={{ '': 'none' }}
          save={(chosen) =>
            change(
              { status: chosen === '' ? null : chosen },
              `${short} is ${chosen === '' ? 'without a status' : chosen}.`,
            )
          }
        />
      </td>
      <td>
        <ActionButton
          label={`Remove ${short}, pet ${id}`}
          act={() => call('pets.remove', { id }, `${short} is removed.`)}
        >
          ×
        </ActionButton>
      </td>
    </tr>
  )
})

const MAX_ORDERS = 100

function OrdersSection() {
  const orders = useSignal<readonly unknown[]>([])
  const count = state.value?.counts.orders ?? 0
  useSignalEffect(() => {
    const asked = space.value
    callVerb('orders.list', asked).then(
      (read) => {
        if (asked === space.value) orders.value = read
      },
      () => {},
    )
  })
  return (
    <Section id="orders" title="Orders" aside={count}>
      {count === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <Pre>
          {orders.value
            .slice(0, MAX_ORDERS)
            .map((order) => stringifyJson(order))
            .join('\n')}
        </Pre>
      )}
      {count > MAX_ORDERS ? <p class="muted">The first {MAX_ORDERS} of them.</p> : null}
    </Section>
  )
}

function SnapshotsSection() {
  const names = snapshots.value
  const removing = useSignal('')
  return (
    <Section id="snapshots" title="Snapshots" aside={names.length === 0 ? 'none' : names.length}>
      <ul class="rules">
        {names.map((name) => (
          <li key={name} class="row between">
            <span class="mono grow">{name}</span>
            <ActionButton
              label={`Restore ${name}`}
              act={() => call('snapshots.restore', { name }, `Restored ${name}.`)}
            >
              Restore
            </ActionButton>
            <button
              type="button"
              aria-label={`Remove ${name}`}
              aria-haspopup="dialog"
              onClick={() => (removing.value = name)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {removing.value === '' ? null : (
        <FormDialog
          label={`Remove the snapshot ${removing}?`}
          submit="Remove"
          submitStyle="danger"
          onClose={() => (removing.value = '')}
          send={() => call('snapshots.remove', { name: removing.value }, `The snapshot ${removing} is removed.`)}
        >
          <p>Remove the snapshot {removing}?</p>
        </FormDialog>
      )}
      <Form
        label="Save a snapshot"
        send={(field) => {
          const name = field('name') ?? ''
          return call('snapshots.save', { name }, `Saved as ${name}.`)
        }}
      >
        <Field label="Name" name="name" required grows />
        <button type="submit">Save snapshot</button>
      </Form>
    </Section>
  )
}

const MAX_SPACES = 50

function SpacesSection() {
  const all = spaces.value
  const search = useSignal('')
  const found = all.filter(({ name }) => name.includes(search.value))
  if (all.length === 0)
    return (
      <Section id="spaces" title="Spaces" aside="only the default one">
        <p class="muted">
          Any key with ~name appended, such as <span class="mono">sandbox~checkout</span>, opens a space: own pets,
          quotas, clock and log.
        </p>
      </Section>
    )
  return (
    <Section id="spaces" title="Spaces" aside={all.length}>
      {all.length > MAX_SPACES ? (
        <label class="stacked">
          Name
          <input value={search} onInput={({ currentTarget }) => (search.value = currentTarget.value)} />
        </label>
      ) : null}
      <ul class="rules">
        {found.slice(0, MAX_SPACES).map(({ name, pets, requests }) => (
          <li key={name} class="row between">
            <span class="mono grow">{name}</span>
            <span class="muted">
              {counted(pets, 'pet')}, {counted(requests, 'request')}
            </span>
            {name === space.value ? (
              <span class="tag">shown</span>
            ) : (
              <button type="button" aria-label={`Show the space ${name}`} onClick={() => showSpace(name)}>
                Show
              </button>
            )}
            <ActionButton label={`Remove the space ${name}`} act={() => removeSpace(name)}>
              Remove
            </ActionButton>
          </li>
        ))}
      </ul>
      {found.length > MAX_SPACES ? <p class="muted">And {found.length - MAX_SPACES} more.</p> : null}
    </Section>
  )
}

function ReplicasSection() {
  return (
    <Section id="replicas" title="Replicas" aside={replicas.value.length}>
      <ul class="rules">
        {replicas.value.map(({ name, address, version, position, lagMs, isThis }) => (
          <li key={name} class="row between">
            <span class="mono grow">{address === '' ? name : address}</span>
            <span class="muted">
              {version}, {position} commands, lag {lagMs} ms
            </span>
            {isThis ? <span class="tag">this one</span> : null}
          </li>
        ))}
      </ul>
    </Section>
  )
}
