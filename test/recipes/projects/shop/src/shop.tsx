import { useEffect, useState } from 'react'
import { listPets } from './api'

/** Shows the pets; where the service is busy, says so and comes back as soon as it may. */
async function load(show) {
  const answer = await listPets()
  if (answer.ok) {
    show({ pets: await answer.json(), notice: '' })
    return
  }
  const seconds = Number(answer.headers.get('Retry-After'))
  show({ pets: [], notice: `${answer.status}: again in ${seconds} s` })
  setTimeout(load, seconds * 1000, show)
}

export function Shop() {
  const [{ pets, notice }, show] = useState({ pets: [], notice: '' })
  useEffect(() => void load(show), [])
  return (
    <main>
      <button type="button" onClick={() => load(show)}>
        Refresh
      </button>
      <p role="status">{notice}</p>
      <ul>
        {pets.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
    </main>
  )
}
