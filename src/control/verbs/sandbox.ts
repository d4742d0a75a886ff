import * as v from 'valibot'
import { digestSandbox } from '../../core/checkpoint.js'
import { DEFAULT_SPACE } from '../../domain/keys.js'
import type { Snapshot } from '../../domain/state.js'
import { checkSpaceName, fields, findSpace, text, VerbError, verb } from '../verb.js'

/** Valid as a file name on all systems, and cannot leave its folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/

const input = fields({
  name: v.pipe(
    v.string('must be the name of a snapshot'),
    v.regex(NAME, 'must be 1 to 64 of A-Z a-z 0-9 . _ - and must not begin with a dot'),
  ),
})

export const snapshotVerbs = {
  'snapshots.list': verb('GET /snapshots', 'Names of the snapshots of a space', {
    run: ({ space }) => asViews([...space.snapshots.keys()].sort()),
    beside: async ({ snapshots }) => snapshots && asViews(await snapshots.names()),
  }),
  'snapshots.save': verb(
    'PUT /snapshots/{name}',
    'Saves the state of a space as a snapshot, replacing one of the same name',
    {
      input,
      run({ space, wall }, { name }) {
        space.saveSnapshot(name, wall)
        return { name }
      },
      async beside({ snapshots, read }, { name }) {
        if (snapshots === undefined) return undefined
        const { space, wall } = await read()
        await snapshots.put(name, space.snapshot(wall))
        return { name }
      },
    },
  ),
  'snapshots.restore': verb(
    'POST /snapshots/{name}/restore',
    'Restores a space from a snapshot, including quotas, bans, clock and randomness; the log stays',
    {
      input,
      canUndo: true,
      async fetch({ snapshots }, { name }) {
        if (snapshots === undefined) return undefined
        const snapshot = await snapshots.get(name)
        if (snapshot === undefined) throw missing(name, await snapshots.names())
        return snapshot
      },
      run({ space, wall, fetched }, { name }) {
        const snapshot = (fetched as Snapshot | undefined) ?? space.snapshots.get(name)
        if (snapshot === undefined) throw missing(name, [...space.snapshots.keys()])
        space.restoreSnapshot(snapshot, wall)
        return { name }
      },
    },
  ),
  'snapshots.remove': verb('DELETE /snapshots/{name}', 'Removes a snapshot; removed is null if it does not exist', {
    input,
    run: ({ space }, { name }) => ({ removed: space.removeSnapshot(name) ? name : null }),
    beside: async ({ snapshots }, { name }) => snapshots && { removed: (await snapshots.remove(name)) ? name : null },
  }),
}

const asViews = (names: readonly string[]) => names.map((name) => ({ name }))

function missing(name: string, known: readonly string[]): VerbError {
  const others = known.length === 0 ? 'No snapshots are saved' : `The snapshots are ${known.join(', ')}`
  return new VerbError('not_found', `Unknown snapshot "${name}". ${others}.`)
}

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
