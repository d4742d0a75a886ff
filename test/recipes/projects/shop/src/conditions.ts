/** The result of a request: pets, a refusal with its reason, or the name of the error. */
async function listed(signal?: AbortSignal): Promise<string> {
  const headers = { Authorization: 'Bearer sandbox' }
  try {
    const response = await fetch(`${import.meta.env.VITE_API_URL}/pets`, { headers, signal })
    const pets = await response.json()
    return response.ok ? `${pets.length} pets` : `${response.status} ${response.headers.get('X-Sandbox-Reason')}`
  } catch (error) {
    return error.name
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve))

/** Sends requests of the page under every condition. @returns the results and the findings */
export async function tryConditions(sandbox) {
  const quota = []
  await sandbox.reset()
  await sandbox.settings.change({ limits: '1/min' })
  for (let request = 0; request < 2; request++) quota.push(await listed())
  await sandbox.clock.advance('1m')
  quota.push(await listed())

  const storm = []
  await sandbox.reset()
  await sandbox.storm.start({ rate: 1, for: '30s' })
  storm.push(await listed())
  await sandbox.clock.advance('30s')
  storm.push(await listed())

  const ban = []
  await sandbox.ban('sandbox', { for: '5m' })
  ban.push(await listed())
  await sandbox.clock.advance('5m')
  ban.push(await listed())

  await sandbox.faults.set(['listPets:connection-reset*1'])
  const reset = [await listed(), await listed()]

  await sandbox.requests.clear()
  await sandbox.faults.set(['listPets:hang*1'])
  const patience = new AbortController()
  const hanging = listed(patience.signal)
  while ((await sandbox.requests()).length === 0) await pause()
  patience.abort()
  const hang = [await hanging, await listed()]

  await sandbox.settings.change({ latency: '20ms' })
  const latency = [await listed()]
  const [{ timing }] = await sandbox.requests({ limit: 1 })
  if (timing.waitingMs > 0) latency.push('late')
  const polite = (await sandbox.conduct()).violations

  await sandbox.reset()
  await sandbox.storm.start({ rate: 1, retryAfter: '60s' })
  let rude = []
  while (rude.length === 0) {
    await listed()
    rude = (await sandbox.conduct()).violations
  }
  await sandbox.reset()
  return { quota, storm, ban, reset, hang, latency, polite, rude: rude.map(({ rule }) => rule) }
}

/** The results in every environment. */
export const EXPECTED_CONDITIONS = {
  quota: ['20 pets', '429 quota-minute', '20 pets'],
  storm: ['429 storm', '20 pets'],
  ban: ['429 ban', '20 pets'],
  reset: ['TypeError', '20 pets'],
  hang: ['AbortError', '20 pets'],
  latency: ['20 pets', 'late'],
  polite: [],
  rude: ['early-retry'],
}
