import { parseInt64 } from '../../contract/int64.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { ActionButton } from './controls.js'
import { PETS_A_PAGE } from './dashboard-state.js'
import { Form } from './form.js'
import { PetRow } from './pet-row.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The pets, newest first, with their statuses to be set. */
export function PetsSection() {
  const session = useSession()
  const pets = useDashboard(({ pets }) => pets) ?? []
  const all = useDashboard(({ state }) => state?.counts.pets) ?? pets.length
  const wanted = useDashboard(({ petsWanted }) => petsWanted)
  return (
    <Section id="pets" title="Pets" aside={all.toLocaleString('en')}>
      <AddPetForm />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <section class="tablebox" aria-label="Pets, newest first" tabIndex={0}>
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
            {pets.map((pet) => (
              <PetRow key={String(pet.id)} pet={pet} />
            ))}
          </tbody>
        </table>
      </section>
      {all > pets.length && pets.length > 0 ? (
        <div class="row">
          <span class="muted">
            The newest {pets.length} of {all.toLocaleString('en')}.
          </span>
          <ActionButton act={() => session.showMorePets(wanted + PETS_A_PAGE)}>Show {PETS_A_PAGE} more</ActionButton>
        </div>
      ) : null}
    </Section>
  )
}

function AddPetForm() {
  const session = useSession()
  return (
    <Form
      label="Add a pet"
      send={async (field) => {
        const categoryId = parseInt64(field('category') ?? '')
        if (categoryId === undefined) throw new Error('The category must be a whole number (int64).')
        const status = PET_STATUSES.find((word) => word === field('status'))
        const pet = { name: field('name') ?? '', categoryId, ...(status === undefined ? {} : { status }) }
        const { id } = await session.call('pets.add', pet)
        session.announce(`The pet ${id} is added.`)
      }}
    >
      <label class="grow">
        Name
        <input name="name" required autocomplete="off" />
      </label>
      <label>
        Category
        <input name="category" required inputMode="numeric" defaultValue="1" autocomplete="off" />
      </label>
      <label>
        Status
        <select name="status">
          {PET_STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
          <option value="">none</option>
        </select>
      </label>
      <button type="submit">Add pet</button>
    </Form>
  )
}
