import { useState } from 'preact/hooks'
import type { Pet } from '../../contract/entities.js'
import { useStore } from '../dashboard/store.js'
import type { SandboxView } from './sandbox-view.js'
import type { ShopClient } from './shop-client.js'

const STATUSES = ['available', 'pending', 'sold'] as const

/** The shop: its newest pets, a filter, a form for one more. */
export function ShopPanel({ client, view }: { readonly client: ShopClient; readonly view: SandboxView }) {
  const pets = useStore(client.store, (state) => state.pets)
  const filter = useStore(client.store, (state) => state.filter)
  const error = useStore(client.store, (state) => state.error)
  const all = useStore(view.store, ({ state }) => state?.counts.pets)
  return (
    <section class="panel shop" aria-labelledby="shop">
      <div class="row between">
        <h2 id="shop">The shop</h2>
        <span class="muted">{all === undefined ? '' : `${all.toLocaleString('en')} pets in the sandbox`}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere */}
      <div class="row" role="group" aria-label="Show pets that are">
        {[undefined, ...STATUSES].map((status) => (
          <button
            type="button"
            key={status ?? 'all'}
            aria-pressed={filter === status}
            onClick={() => client.show(status)}
          >
            {status ?? 'all'}
          </button>
        ))}
        <button type="button" class="plain" onClick={() => client.refresh()}>
          Reload
        </button>
      </div>
      <PetTable pets={pets} />
      <AddForm client={client} />
      {/* Below all, so that nothing moves under the pointer. */}
      <p class="error" role="alert">
        {error}
      </p>
    </section>
  )
}

function PetTable({ pets }: { readonly pets: readonly Pet[] | undefined }) {
  if (pets === undefined) return <p class="muted">No list has come yet.</p>
  return (
    <table class="pets">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" class="number">
            Category
          </th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {pets.map(({ id, name, categoryId, status }) => (
          <tr key={String(id)} title={`Pet ${id}`}>
            <td class="name">{name}</td>
            <td class="number">{String(categoryId)}</td>
            <td>
              {status === undefined ? (
                <span class="muted">none</span>
              ) : (
                <span class={`status ${status}`}>{status}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function AddForm({ client }: { readonly client: ShopClient }) {
  const [name, setName] = useState('')
  const [category, setCategory] = useState('1')
  const [status, setStatus] = useState<(typeof STATUSES)[number]>('available')
  const [isBusy, setBusy] = useState(false)
  async function add(event: Event) {
    event.preventDefault()
    setBusy(true)
    if (await client.add({ name, categoryId: Number(category), status })) setName('')
    setBusy(false)
  }
  return (
    <form class="fields add" aria-label="Add a pet" onSubmit={add}>
      <label class="grow">
        Name
        <input
          value={name}
          required
          autocomplete="off"
          placeholder="Rex"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label>
        Category
        <input
          class="short"
          value={category}
          required
          inputMode="numeric"
          pattern="\d+"
          autocomplete="off"
          onInput={({ currentTarget }) => setCategory(currentTarget.value)}
        />
      </label>
      <label>
        Status
        <select
          value={status}
          onChange={({ currentTarget }) => setStatus(STATUSES.find((one) => one === currentTarget.value) ?? status)}
        >
          {STATUSES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button type="submit" class="primary" aria-busy={isBusy}>
        Add a pet
      </button>
    </form>
  )
}
