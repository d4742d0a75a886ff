import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, stringifyJson } from '../../../src/contract/json.js'
import { crc32 } from '../../../src/store/crc32.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, statusOf } from '../wire.js'

const WRONG: readonly unknown[] = [undefined, null, '', 'x', [], {}, true, -1, 0.5, 1e300, 2 ** 53, 2n ** 63n - 1n]

/** Snapshots with anything in place of any part, and a checksum that fits: restored or refused as a whole, and every next start serves. */
export const damagedSnapshots: Experiment = {
  counts: 'damaged snapshots restored',
  async run(trial) {
    const folder = trial.folder()
    const file = join(folder, '.petstore-sandbox/snapshots/s.json')
    let server = await trial.serve(folder, UNLIMITED)
    await ask(server.port, 'PUT', '/__sandbox/storm', { body: '{"rate":0.5,"for":"30s"}' })
    await ask(server.port, 'PUT', '/__sandbox/keys/sandbox-pro/ban', { body: '{"for":"5m"}' })
    await ask(server.port, 'PUT', '/__sandbox/snapshots/s')
    const { snapshot } = parseJson(readFileSync(file, 'utf8')) as { readonly snapshot: object }
    let restored = 0
    for (let i = 0; i < trial.size(300, 20); i++) {
      const copy = structuredClone(snapshot)
      const what = spoil(trial, copy)
      const text = stringifyJson(copy)
      writeFileSync(file, `{"crc":${crc32(text)},"snapshot":${text}}\n`)
      const before = await seen(server.port)
      const status = statusOf(await ask(server.port, 'POST', '/__sandbox/snapshots/s/restore'))
      if (status === 200) restored++
      const isUntouched = status === 409 && (await seen(server.port)) === before
      trial.check(status === 200 || isUntouched, () => `${what}: restoring it answers ${status}, and changes something`)
      const added = statusOf(
        await ask(server.port, 'POST', '/__sandbox/pets', { body: '{"name":"Rex","categoryId":1}' }),
      )
      trial.check(added === 200, () => `${what}: afterwards adding a pet answers ${added}`)
      if (i % 10 !== 9) continue
      await server.stop()
      server = await trial.serve(folder, UNLIMITED)
    }
    trial.note(`${restored} could be restored`)
  },
}

/** Puts something in the place of a part that is chosen by going down as far as chance has it. */
function spoil(trial: Trial, value: object, path = ''): string {
  const names = Object.keys(value)
  const name = names.length === 0 ? 'x' : trial.oneOf(names)
  const inner: unknown = Reflect.get(value, name)
  const here = `${path}.${name}`
  if (typeof inner === 'object' && inner !== null && trial.chance.next() < 0.8) return spoil(trial, inner, here)
  const wrong = trial.oneOf(WRONG)
  Reflect.set(value, name, wrong)
  return `${here} is ${String(wrong)}`
}

/** Settings, faults and pets; the clock goes on meanwhile. */
async function seen(port: number): Promise<string> {
  const paths = ['settings', 'faults', 'storm', 'pets']
  const heard = await Promise.all(paths.map((path) => ask(port, 'GET', `/__sandbox/${path}`)))
  return heard.map((answer) => (typeof answer === 'string' ? answer : answer.body)).join('\n')
}
