import * as v from 'valibot'
import { digestSandbox } from '../../core/checkpoint.js'
import { DEFAULT_SPACE } from '../../domain/keys.js'
import { checkSpaceName, fields, findSpace, text, verb } from '../verb.js'

const STOPPING = { stopping: true } as const
const switchInQuery = v.union(
  [
    v.boolean(),
    v.pipe(
      v.picklist(['true', 'false']),
      v.transform((text) => text === 'true'),
    ),
  ],
  'must be true or false',
)

export const sandboxVerbs = {
  'spaces.list': verb('GET /spaces', 'The open spaces other than the default one', {
    run: ({ spaces }) =>
      spaces.names().map((name) => {
        const space = spaces.get(name)
        return { name, pets: space?.records.get('pets')?.size ?? 0, requests: space?.log.total ?? 0 }
      }),
  }),
  'spaces.remove': verb(
    'DELETE /spaces/{name}',
    'Removes a space; its next request opens it again from the start. removed is null if it was not open',
    {
      input: fields({ name: text }),
      run({ spaces, wall }, { name }) {
        checkSpaceName(name)
        return { removed: spaces.remove(name, wall) ? name : null }
      },
    },
  ),
  'spaces.copy': verb(
    'POST /spaces/{name}/copy',
    'Copies a space (~: the default space) into the space of the query: pets, settings, quotas, bans, storm, faults, clock and randomness; the log stays',
    {
      input: fields({ name: text }),
      canUndo: true,
      run({ space, spaces, wall }, { name }) {
        const source = findSpace(spaces, name === DEFAULT_SPACE ? '' : name)
        if (source !== space) space.copyFrom(source, wall)
        return { space: space.name, pets: space.records.get('pets')?.size ?? 0 }
      },
    },
  ),
  replicas: verb(
    'GET /replicas',
    'Running replicas with name, address, version, position and lag; empty without --redis. digest=true adds a digest of the state of this replica',
    {
      input: fields({ digest: v.optional(switchInQuery) }),
      run: ({ replicas = [], spaces }, { digest }) =>
        digest === true
          ? replicas.map((replica) => (replica.isThis ? { ...replica, digest: digestSandbox(spaces) } : replica))
          : replicas,
    },
  ),
  shutdown: verb('POST /shutdown', 'Stops the sandbox, as SIGTERM does', {
    async beside({ target }) {
      target.shutdown()
      return STOPPING
    },
    run: () => STOPPING,
  }),
}
