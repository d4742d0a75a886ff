import { useSignal } from '@preact/signals'
import { noun } from '../../domain/numbers.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { state } from '../state.js'
import { Field, Toggle } from '../ui.js'
import { add, error, petFilter, pets, refresh, show } from './shop-client.js'

export function ShopPanel() {
  const count = state.value?.counts.pets
  return (
    <section class="panel shop" aria-labelledby="shop">
      <div class="row between">
        <h2 id="shop">The shop</h2>
        <span class="muted">
          {count === undefined ? '' : `${count.toLocaleString('en')} ${noun(count, 'pet')} in the sandbox`}
        </span>
      </div>
      <Toggle label="Show pets that are" names={['all', ...PET_STATUSES]} value={petFilter.value} choose={show}>
        <button type="button" class="plain" onClick={refresh}>
          Reload
        </button>
      </Toggle>
      <PetTable />
      <AddForm />
      {/* Below everything else, so that nothing moves under the pointer. */}
      <p class="error" role="alert">
        {error}
      </p>
    </section>
  )
}

function PetTable() {
  if (pets.value === undefined) return <p class="muted">No list received yet.</p>
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
        {pets.value.map(({ id, name, categoryId, status }) => (
          <tr key={String(id)} title={`Pet ${id}`}>
            <td class="name">{name}</td>
            <td class="number">{String(categoryId)}</td>
            <td>
              <span class={status === undefined ? 'muted' : `status ${status}`}>{status ?? 'none'}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function AddForm() {
  const isBusy = useSignal(false)
  async function submit(event: SubmitEvent) {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const fields = new FormData(form)
    const field = (name: string) => String(fields.get(name))
    const status = PET_STATUSES.find((known) => known === field('status')) ?? 'available'
    isBusy.value = true
    if (await add({ name: field('name'), categoryId: Number(field('category')), status })) form.reset()
    isBusy.value = false
  }
  return (
    <form class="fields add" aria-label="Add a pet" onSubmit={submit}>
      <Field label="Name" name="name" required placeholder="Rex" grows />
      <Field
        label="Category"
        name="category"
        class="short"
        defaultValue="1"
        required
        inputMode="numeric"
        pattern="\d+"
      />
      <Field label="Status" name="status" choices={PET_STATUSES} />
      <button type="submit" class="primary" aria-busy={isBusy.value}>
        Add a pet
      </button>
    </form>
  )
}
