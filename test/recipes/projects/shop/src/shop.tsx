import { useEffect, useState } from 'react'
import { listPets } from './api'

/** Shows the pets; where the service is busy, says so and comes back as soon as it may. */
async function load(show) {
  const response = await listPets()
  if (response.ok) {
    show({ pets: await response.json(), notice: '' })
    return
  }
  const seconds = Number(response.headers.get('Retry-After'))
  show({ pets: [], notice: `${response.status}: again in ${seconds} s` })
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
