import * as v from 'valibot'
import { restoreSnapshot, takeSnapshot } from '../../core/snapshot.js'
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
  run: async ({ space, sandbox }) => (await sandbox.snapshotsOf(space).names()).map((name) => ({ name })),
})

export const save = verb({
  method: 'PUT',
  path: '/snapshots/{name}',
  summary: 'Saves the whole state of a space under a name, replacing a snapshot of that name',
  input: fields({ name: nameSchema }),
  async run({ space, sandbox, wall }, { name }) {
    await sandbox.snapshotsOf(space).put(name, takeSnapshot(space, wall))
    return { name }
  },
})

export const restore = verb({
  method: 'POST',
  path: '/snapshots/{name}/restore',
  summary: 'Restores a space from a snapshot, including quotas, bans, clock and randomness; the log stays',
  input: fields({ name: nameSchema }),
  async run({ space, sandbox, wall }, { name }) {
    const snapshots = sandbox.snapshotsOf(space)
    const snapshot = await snapshots.get(name)
    if (snapshot === undefined) throw await missing(name, snapshots.names())
    await restoreSnapshot(space, snapshot, wall)
    return { name }
  },
})

export const remove = verb({
  method: 'DELETE',
  path: '/snapshots/{name}',
  summary: 'Removes a snapshot',
  input: fields({ name: nameSchema }),
  async run({ space, sandbox }, { name }) {
    const snapshots = sandbox.snapshotsOf(space)
    if (!(await snapshots.remove(name))) throw await missing(name, snapshots.names())
    return { removed: name }
  },
})

async function missing(name: string, names: Promise<readonly string[]>): Promise<VerbError> {
  const known = await names
  return new VerbError(
    'not_found',
    `There is no snapshot "${name}". ${known.length === 0 ? 'There are none yet' : `The snapshots are ${known.join(', ')}`}.`,
  )
}
