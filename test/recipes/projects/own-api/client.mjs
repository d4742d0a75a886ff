import { setTimeout as sleep } from 'node:timers/promises'

const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key, PETSTORE_JOB: job } = process.env
const patient = process.argv[2] !== 'impatient'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const room = { name: 'Blue', capacity: 4, price_per_hour: '12.50', address: { street: 'Main', city: 'Bonn' } }

async function send(method, path, body) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(base + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(3000),
    })
      .then(async (one) => ({ status: one.status, headers: one.headers, text: await one.text() }))
      .catch(() => ({ status: 0 }))
    const { status = 0, headers: received, text } = response
    if (status >= 200 && status < 300) return text
    const canRetry = !patient || status === 429 || (method === 'GET' && (status === 0 || status >= 500))
    if (!canRetry || attempt === 4) throw new Error(`${method} ${path}: ${status}`)
    const after = received?.get('retry-after')
    const told = /^\d+$/.test(after ?? '')
      ? Number(after) * 1000
      : Date.parse(after ?? '') - Date.parse(received?.get('date'))
    const wait = patient ? Math.max(told || 0, 500 * 2 ** attempt) : 10
    if (wait > 10_000) throw new Error(`${path}: it would take ${wait} ms`)
    await sleep(wait)
  }
}

// From the text: JSON.parse would lose digits of an id above 2^53.
const rooms = await (job === 'create' ? send('POST', '/rooms/', room) : send('GET', '/rooms/'))
const [, id] = /"id":(\d+)/.exec(rooms) ?? []
if (id !== undefined) await send('GET', `/rooms/${id}`)
