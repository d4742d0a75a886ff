import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, type Heard, type RequestParts, statusOf } from '../wire.js'

/** Names that every object has, or that make one into another. */
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'then',
]

const JSON_TYPE = 'Content-Type: application/json\r\n'

/** Names of JavaScript's own in bodies, parameters, paths, keys and spaces: they are names like others, and leave no trace. */
export const prototypeKeys: Experiment = {
  counts: 'requests with names that every object has',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    const { port } = server
    const before = await picture(port)
    const expectStatus = async (method: string, target: string, parts: RequestParts, ...expected: number[]) => {
      const status = statusOf(await ask(port, method, target, parts))
      const what = `${method} ${target} ${parts.key ?? ''} ${parts.body ?? ''}`
      trial.check(typeof status === 'number' && expected.includes(status), () => `${what}: ${status}, not ${expected}`)
    }
    for (const name of NAMES) {
      const polluting = `{"polluted":true,"status":"sold"}`
      await expectStatus('POST', '/v1/pets', { body: `{"${name}":${polluting},"name":"a","categoryId":1}` }, 201)
      await expectStatus('POST', '/v1/pets', { body: `{"${name}":${polluting}}` }, 400)
      await expectStatus('POST', '/v1/pets', { body: `{"name":{"${name}":${polluting}},"categoryId":1}` }, 400)
      await expectStatus('POST', '/v1/pets', { body: `{"name":"a","categoryId":1,"status":"${name}"}` }, 400)
      await expectStatus('GET', `/v1/pets?${name}=1&${name}[polluted]=1`, {}, 200)
      await expectStatus('GET', `/v1/pets?status=${name}`, {}, 400)
      await expectStatus('GET', `/v1/pets?limit=${name}`, {}, 400)
      await expectStatus('GET', `/v1/pets/${name}`, {}, 404)
      await expectStatus('GET', `/v1/${name}`, {}, 404)
      await expectStatus('GET', `/${name}`, {}, 404)
      await expectStatus('GET', '/v1/pets', { key: name }, 401)
      await expectStatus('GET', '/v1/pets', { key: `sandbox~${name}` }, 200)
      await expectStatus('GET', '/v1/pets', { headers: `${name}: 1\r\nPrefer: ${name}=1\r\n` }, 200)
      const control = { headers: JSON_TYPE }
      await expectStatus('PATCH', '/__sandbox/settings', { ...control, body: `{"${name}":${polluting}}` }, 400)
      await expectStatus('PUT', '/__sandbox/scenario', { ...control, body: `{"name":"${name}"}` }, 400, 404)
      await expectStatus('PUT', '/__sandbox/storm', { ...control, body: `{"${name}":1,"rate":0}` }, 400)
      await expectStatus(
        'PUT',
        '/__sandbox/faults',
        { ...control, body: `[{"operation":"${name}","fault":"hang"}]` },
        400,
        404,
      )
      await expectStatus('GET', `/__sandbox/${name}`, {}, 404)
      await expectStatus('DELETE', `/__sandbox/keys/${name}`, {}, 200)
      await expectStatus('POST', `/__sandbox/snapshots/${name}/restore`, {}, 404)
      await expectStatus('GET', `/__sandbox/requests?${name}=1`, {}, 400)
      await expectStatus('DELETE', `/__sandbox/spaces/${name}`, {}, 200)
    }
    const after = await picture(port)
    trial.check(after === before, () => `it is another sandbox now: ${after}, it was ${before}`)
  },
}

/** What a polluted prototype would show in: settings, keys, faults, the storm; and that a plain pet stays plain. */
async function picture(port: number): Promise<string> {
  const paths = ['/__sandbox/settings', '/__sandbox/keys', '/__sandbox/faults', '/__sandbox/storm', '/v1/pets/1']
  const answers = await Promise.all(paths.map((path) => ask(port, 'GET', path)))
  const bodyOf = (heard: Heard) => (typeof heard === 'string' ? heard : heard.body.replace(/"until":"[^"]*"/, ''))
  return answers.map(bodyOf).join('\n')
}
