import * as v from 'valibot'
import { digestSandbox } from '../../core/checkpoint.js'
import { countRecords } from '../../core/collections.js'
import { copySpace, restoreSnapshot, takeSnapshot } from '../../core/snapshots.js'
import type { Space } from '../../core/space.js'
import type { SnapshotStore } from '../../core/space-context.js'
import type { ReplacedFile } from '../../core/undo.js'
import { Failure } from '../../domain/failures.js'
import { DEFAULT_SPACE } from '../../domain/keys.js'
import { recordsText } from '../../domain/numbers.js'
import type { Snapshot } from '../../domain/state.js'
import { conductOfRun } from '../conduct-of-run.js'
import { checkSpaceName, described, fields, findSpace, switchInQuery, text, VerbError, verb } from '../verb.js'
import type { SpaceView } from '../views.js'

/** Valid as a file name on all systems, and cannot leave its folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/

const input = fields({
  name: described(
    v.pipe(
      v.string('must be the name of a snapshot'),
      v.regex(NAME, 'must be 1 to 64 of A-Z a-z 0-9 . _ - and must not begin with a dot'),
    ),
    'its name',
  ),
})
const snapshot = { input, example: { name: 'full-basket' } }

export const snapshotVerbs = {
  'snapshots.list': verb('GET /snapshots', 'List the snapshots', {
    details: 'See [snapshots](state.md#snapshots).',
    command: 'snapshot list',
    run: ({ space }) => asViews([...space.snapshots.keys()].sort()),
    runOutsideCore: async ({ snapshots }) => snapshots && asViews(await snapshots.names()),
  }),
  'snapshots.save': verb('PUT /snapshots/{name}', 'Save a snapshot, replacing one with the same name', {
    details: 'It includes settings, quotas, bans and clock.',
    ...snapshot,
    command: 'snapshot save <name>',
    run({ space, wall, files }, { name }) {
      if (files !== undefined) keepReplaced(space, (files as DiskChange).file)
      else space.setSnapshots(new Map(space.snapshots).set(name, takeSnapshot(space, wall)))
      return { name }
    },
    async useFiles({ snapshots, read }, { name }): Promise<DiskChange | undefined> {
      if (snapshots === undefined) return undefined
      const { space, wall } = await read()
      const file = await replacedFile(snapshots, name)
      await snapshots.put(name, takeSnapshot(space, wall))
      return { file, isRemoved: false }
    },
    text: ({ name }) => `Snapshot ${name} saved.`,
  }),
  'snapshots.restore': verb('POST /snapshots/{name}/restore', 'Restore all state from a snapshot, except the log', {
    ...snapshot,
    command: 'snapshot restore <name>',
    async useFiles({ snapshots }, { name }) {
      if (snapshots === undefined) return undefined
      const saved = await snapshots.get(name)
      if (saved === undefined) throw missing(name, await snapshots.names())
      return saved
    },
    run({ space, wall, files }, { name }) {
      const saved = (files as Snapshot | undefined) ?? space.snapshots.get(name)
      if (saved === undefined) throw missing(name, [...space.snapshots.keys()])
      restoreSnapshot(space, saved, wall)
      return { name }
    },
    text: ({ name }) => `Snapshot ${name} restored.`,
  }),
  'snapshots.remove': verb('DELETE /snapshots/{name}', 'Remove a snapshot', {
    ...snapshot,
    command: 'snapshot remove <name>',
    run({ space, files }, { name }) {
      if (files !== undefined) {
        const { file, isRemoved } = files as DiskChange
        if (isRemoved) keepReplaced(space, file)
        return removed(name, isRemoved)
      }
      const left = new Map(space.snapshots)
      if (!left.delete(name)) return removed(name, false)
      space.setSnapshots(left)
      return removed(name, true)
    },
    async useFiles({ snapshots }, { name }): Promise<DiskChange | undefined> {
      if (snapshots === undefined) return undefined
      const file = await replacedFile(snapshots, name)
      return { file, isRemoved: await snapshots.remove(name) }
    },
    text: (output, { name }) =>
      output.removed === null ? `There is no snapshot ${name}.` : `Snapshot ${name} removed.`,
  }),
}

interface DiskChange {
  readonly file: ReplacedFile
  readonly isRemoved: boolean
}

/** For the undo of the running verb. */
function keepReplaced({ transaction }: Space, file: ReplacedFile): void {
  if (transaction !== undefined) transaction.file = file
}

/** What an undo writes back. Nothing for a damaged snapshot, which may be replaced or removed. */
async function replacedFile(snapshots: SnapshotStore, name: string): Promise<ReplacedFile> {
  const content = await snapshots.get(name).catch((error: unknown) => {
    if (error instanceof Failure) return undefined
    throw error
  })
  return { name, content: content ?? null }
}

const removed = (name: string, isRemoved: boolean) => ({ removed: isRemoved ? name : null })
const asViews = (names: readonly string[]) => names.map((name) => ({ name }))

function missing(name: string, known: readonly string[]): VerbError {
  const others = known.length === 0 ? 'No snapshots are saved' : `The snapshots are ${known.join(', ')}`
  return new VerbError('not_found', `Unknown snapshot "${name}". ${others}.`)
}

const STOPPING = { stopping: true } as const

export const sandboxVerbs = {
  'spaces.list': verb('GET /spaces', 'List the open spaces except the default one', {
    isOfSandbox: true,
    command: 'spaces list',
    run: ({ spaces }): readonly SpaceView[] =>
      spaces.names().map((name) => {
        const space = spaces.get(name)
        return {
          name,
          records: space === undefined ? {} : countRecords(space.shared.contract, space.state.records),
          requests: space?.log.total ?? 0,
        }
      }),
  }),
  'spaces.conduct': verb('GET /conduct/all', 'Report violations in all spaces, those reset or removed included', {
    isOfSandbox: true,
    run: ({ spaces }) => conductOfRun(spaces),
  }),
  'spaces.remove': verb('DELETE /spaces/{name}', 'Remove a space and everything in it', {
    details: 'Its next request opens a new one.',
    isOfSandbox: true,
    input: fields({ name: described(text, 'its name') }),
    command: 'spaces remove <name>',
    example: { name: 'checkout' },
    run({ spaces, wall }, { name }) {
      checkSpaceName(name)
      return removed(name, spaces.remove(name, wall))
    },
    text: (output, { name }) => (output.removed === null ? `There is no space ${name}.` : `Space ${name} removed.`),
  }),
  'spaces.copy': verb('POST /spaces/{name}/copy', 'Make the space a copy of another, or of the default one', {
    details: 'The log stays. `name` is the source, `~` the default space.',
    input: fields({ name: v.optional(described(text, 'its name (default: the default space)'), DEFAULT_SPACE) }),
    defaults: { name: DEFAULT_SPACE },
    methodName: 'copyFrom',
    command: 'spaces copy [name]',
    example: { name: 'checkout' },
    run({ space, spaces, wall }, { name }) {
      const source = findSpace(spaces, name === DEFAULT_SPACE ? '' : name)
      if (source !== space) copySpace(space, source, wall)
      if (source !== space) spaces.setHandlers(space.name, spaces.handlersOf(source.name))
      return { space: space.name, records: countRecords(space.shared.contract, space.state.records) }
    },
    text: ({ space, records }, { name }) =>
      `Copied ${spaceText(String(name))} to ${spaceText(space)}: ${recordsText(records)}.`,
  }),
  replicas: verb('GET /replicas', 'List the replicas of this sandbox and their positions', {
    details: 'Equal positions have equal digests. See [replicas](deploy.md#replicas).',
    isOfSandbox: true,
    input: fields({
      digest: v.optional(described(switchInQuery, 'also return a digest of the state of this replica')),
    }),
    command: 'replicas [--digest]',
    example: { digest: true },
    run: ({ replicas = [], spaces }, { digest }) =>
      digest === true
        ? replicas.map((replica) => (replica.isThis ? { ...replica, digest: digestSandbox(spaces) } : replica))
        : replicas,
  }),
  shutdown: verb('POST /shutdown', 'Stop the sandbox, as SIGTERM does', {
    isOfSandbox: true,
    command: 'stop',
    async runOutsideCore({ target }) {
      target.shutdown()
      return STOPPING
    },
    run: () => STOPPING,
    text: () => 'Stopping.',
  }),
}

export function spaceText(name: string): string {
  return name === '' || name === DEFAULT_SPACE ? 'the default space' : `the space ${name}`
}
