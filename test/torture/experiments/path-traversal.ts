import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, request, Wire } from '../wire.js'

/** The content of private files. */
const CANARY = 'canary-8c1f3a'
/** Texts in files of the package that are not served. */
const TELLTALES = [CANARY, '"devDependencies"', 'root:x:0:0', '"publishConfig"', 'SPDX', 'The MIT License']

const UP = [
  '..',
  '.%2e',
  '%2e%2e',
  '%2E%2E',
  '%252e%252e',
  '..;',
  '..%00',
  '%c0%ae%c0%ae',
  '%uff0e%uff0e',
  '....',
  '..\\',
  '..%5c',
]
const SLASHES = ['/', '%2f', '%2F', '%252f', '\\', '%5c', '//', '/./', '%c0%af']
const FILES = [
  'canary.json',
  'canary',
  'package.json',
  'LICENSE',
  'store.json',
  'etc/passwd',
  '.petstore-sandbox/store.json',
]
const ENDS = ['', '%00', '%00.html', '.json', '?', '#', '/', '.']

/** Routes that read a name in their path, beside all that the control plane's own description lists. */
const ROOTS = [
  '/',
  '/v1',
  '/v1/pets',
  '/v1/store',
  '/__sandbox',
  '/__sandbox/docs',
  '/__sandbox/assets',
  '/__sandbox/docs/assets',
]

/** Ways out of every folder that is served: no answer has a byte of a file outside. */
export const pathTraversal: Experiment = {
  counts: 'paths that lead outside',
  async run(trial) {
    const folder = trial.folder()
    const deep = join(folder, 'a', 'b', 'work')
    mkdirSync(deep, { recursive: true })
    for (const place of [folder, join(folder, 'a'), join(folder, 'a', 'b'), deep]) {
      for (const name of ['canary', 'canary.json']) writeFileSync(join(place, name), `{"crc":1,"snapshot":"${CANARY}"}`)
    }
    const server = await trial.serve(deep, UNLIMITED)
    const roots = [...ROOTS, ...(await describedPaths(server.port))]
    let wire = await Wire.open(server.port)
    const count = trial.size(20_000, 800)
    for (let i = 0; i < count; i++) {
      const slash = trial.oneOf(SLASHES)
      const ups = Array.from({ length: trial.integer(1, 9) }, () => trial.oneOf(UP) + slash).join('')
      const target = `${trial.oneOf(roots)}${trial.oneOf(['/', slash])}${ups}${trial.oneOf(FILES)}${trial.oneOf(ENDS)}`
      wire.send(request('GET', target))
      const heard = await wire.answer()
      if (typeof heard === 'string') {
        trial.lose(`${target} got no response`)
        wire = await Wire.open(server.port)
        continue
      }
      const found = TELLTALES.find((text) => heard.body.includes(text))
      trial.check(found === undefined, () => `${target} gives ${found}: ${heard.body.slice(0, 80)}`)
      if (heard.headers.get('connection') === 'close') wire = await Wire.open(server.port)
    }
    // Names that become files: a snapshot must not be written anywhere else either.
    for (const up of UP) {
      for (const slash of SLASHES) {
        await ask(server.port, 'PUT', `/__sandbox/snapshots/${up}${slash}escaped`)
        await ask(server.port, 'DELETE', `/__sandbox/snapshots/${up}${slash}${up}${slash}canary`)
      }
    }
    const written = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('escaped'),
    )
    trial.check(written.length === 0, () => `a snapshot was written outside: ${written}`)
    trial.check(existsSync(join(deep, 'canary.json')), () => 'a file outside was removed')
    trial.note(`from ${roots.length} routes`)
  },
}

/** The paths of GET that the control plane describes, parameters and all. */
async function describedPaths(port: number): Promise<readonly string[]> {
  const heard = await ask(port, 'GET', '/__sandbox/control.openapi.yaml')
  if (typeof heard === 'string') throw new Error('the control plane does not describe itself')
  return [...heard.body.matchAll(/^ {2}"?(\/[^\s":]*)"?:$/gm)]
    .map(([, path]) => String(path).replace(/\/\{[^}]*\}.*$/, ''))
    .map((path) => (path.startsWith('/__sandbox') ? path : `/__sandbox${path}`))
}
