import * as v from 'valibot'
import type { Snapshot } from '../../domain/snapshot.js'
import { fields } from '../fields.js'
import { VerbError, verb } from '../verb.js'

/** A name that is a valid file name everywhere and cannot leave its folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/

const nameSchema = v.pipe(
  v.string('must be the name of a snapshot'),
  v.regex(NAME, 'must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot'),
)

export const list = verb({
  method: 'GET',
  path: '/snapshots',
  summary: 'Names of the snapshots of a space',
  run: ({ space }) => viewOf([...space.snapshots.keys()].sort()),
  outside: async (snapshots) => viewOf(await snapshots.names()),
})

export const save = verb({
  method: 'PUT',
  path: '/snapshots/{name}',
  summary: 'Saves the whole state of a space under a name, replacing a snapshot of that name',
  input: fields({ name: nameSchema }),
  run({ space, wall }, { name }) {
    space.saveSnapshot(name, wall)
    return { name }
  },
  async outside(snapshots, { space, wall }, { name }) {
    await snapshots.put(name, space.snapshot(wall))
    return { name }
  },
})

export const restore = verb({
  method: 'POST',
  path: '/snapshots/{name}/restore',
  summary: 'Restores a space from a snapshot, including quotas, bans, clock and randomness; the log stays',
  input: fields({ name: nameSchema }),
  async fetch({ snapshots }, { name }) {
    if (snapshots === undefined) return undefined
    const snapshot = await snapshots.get(name)
    if (snapshot === undefined) throw missing(name, await snapshots.names())
    return snapshot
  },
  run({ space, spaces, wall, fetched }, { name }) {
    const snapshot = (fetched as Snapshot | undefined) ?? space.snapshots.get(name)
    if (snapshot === undefined) throw missing(name, [...space.snapshots.keys()])
    const before = { kind: 'state', snapshot: space.snapshot(wall), clock: space.clock } as const
    space.restore(snapshot, wall)
    spaces.remember({ verb: 'snapshots.restore', space: space.name, at: wall, before })
    return { name }
  },
})

export const remove = verb({
  method: 'DELETE',
  path: '/snapshots/{name}',
  summary: 'Removes a snapshot',
  input: fields({ name: nameSchema }),
  run({ space }, { name }) {
    if (!space.removeSnapshot(name)) throw missing(name, [...space.snapshots.keys()])
    return { removed: name }
  },
  async outside(snapshots, _context, { name }) {
    if (!(await snapshots.remove(name))) throw missing(name, await snapshots.names())
    return { removed: name }
  },
})

function viewOf(names: readonly string[]): readonly { readonly name: string }[] {
  return names.map((name) => ({ name }))
}

function missing(name: string, known: readonly string[]): VerbError {
  return new VerbError(
    'not_found',
    `There is no snapshot "${name}". ${known.length === 0 ? 'There are none yet' : `The snapshots are ${known.join(', ')}`}.`,
  )
}
