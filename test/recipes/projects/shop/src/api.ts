export function listPets(key = localStorage.getItem('apiKey') ?? 'sandbox') {
  return fetch(`${import.meta.env.VITE_API_URL}/pets`, { headers: { Authorization: `Bearer ${key}` } })
}
