const { VITE_API_URL: api, VITE_FORGETS_TOKEN: forgetsToken } = import.meta.env
const status = document.querySelector('[role=status]')

/** @throws Error with the reason of the service */
async function send(path, init) {
  const response = await fetch(api + path, init)
  const body = await response.json()
  if (!response.ok) throw new Error(`${response.status}: ${body.detail}`)
  return body
}

async function showBookings(form) {
  const { access_token } = await send('/token', { method: 'POST', body: new URLSearchParams(new FormData(form)) })
  const headers = forgetsToken ? {} : { Authorization: `Bearer ${access_token}` }
  const bookings = await send('/bookings/', { headers })
  document
    .querySelector('ul')
    .replaceChildren(
      ...bookings.map(({ code, status }) =>
        Object.assign(document.createElement('li'), { textContent: `${code} ${status}` }),
      ),
    )
  status.textContent = `${bookings.length} bookings`
}

document.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault()
  showBookings(event.target).catch((error) => {
    status.textContent = error.message
  })
})
