import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchDirectory, contract, newFolder } from '../directories.js'
import { type Contestant, launch } from './contestant.js'

const modules = join(benchDirectory, 'node_modules')
/** Which are pinned. */
const versions: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(benchDirectory, 'package.json'), 'utf8'),
).dependencies

/** Keeps nothing; answers the two pets of the contract's example. */
export const prism: Contestant = {
  name: `Prism CLI ${versions['@stoplight/prism-cli']}`,
  grows: false,
  start: () =>
    launch({
      args: (port) => [
        join(modules, '@stoplight/prism-cli/dist/index.js'),
        ...['mock', '--port', String(port), '--verboseLevel', 'silent', contract],
      ],
      cwd: newFolder(),
    }),
}

/** Keeps nothing; answers one pet made up from the schema. */
export const scalar: Contestant = {
  name: `Scalar's mock server ${versions['@scalar/mock-server']}`,
  grows: false,
  start: () =>
    launch({
      args: (port) => [join(benchDirectory, 'contestants/scalar-server.mjs'), String(port), contract],
      cwd: newFolder(),
    }),
}

/** Keeps pets in a file, which it rewrites after each change; answers pages of 20. */
export function jsonServer(pets: number): Contestant {
  return {
    name: `json-server ${versions['json-server']}`,
    grows: true,
    async start() {
      const cwd = newFolder()
      writeFileSync(join(cwd, 'db.json'), JSON.stringify({ pets: petsFor(pets) }, undefined, 2))
      return launch({
        args: (port) => [
          join(modules, 'json-server/lib/bin.js'),
          ...['--port', String(port), '--host', '127.0.0.1', 'db.json'],
        ],
        cwd,
        listQuery: '?_page=1&_per_page=20',
      })
    },
  }
}

/** Its ids are text. */
function petsFor(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index + 1),
    name: `Pet ${index + 1}`,
    categoryId: 1,
    status: 'available',
  }))
}
