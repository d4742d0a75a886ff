import { unfitRecords } from '../core/collections.js'
import type { Forward, Instant } from '../core/command.js'
import type { ApiKey } from '../domain/keys.js'
import type { Reply } from '../domain/messages.js'
import { counted } from '../domain/numbers.js'
import { systemClock } from '../system/system-clock.js'
import {
  type CommandExecutor,
  type OpenedStore,
  resolveFrozenStart,
  type SandboxDeps,
  type SavedSandbox,
} from './executor.js'

const MANY_RECORDS = 100_000

export async function createLocalExecutor(
  deps: SandboxDeps,
  openStore: (keys: readonly ApiKey[]) => Promise<OpenedStore | undefined>,
  saved: SavedSandbox | undefined,
): Promise<CommandExecutor> {
  const { options, startedAt, upstream } = deps
  const readSeed = deps.seedsOf(options.seed)
  const fixtures = readSeed()
  const store = await openStore(fixtures.keys)
  deps.opened.defer(async () => store?.close())
  const unfit = store?.state && unfitRecords(deps.contract, store.state)
  if (unfit !== undefined)
    deps.warn(
      `${unfit} Use the contract that they were written with, choose another file with --store, or start over with --reset.`,
    )
  const state = store?.state ?? fixtures
  const how = { seed: options.seed, start: resolveFrozenStart(options.start, startedAt, deps.contract) }
  deps.check(state)
  const spaces = deps.openSpaces(how, startedAt, fixtures, { state, store: store?.store })
  if (saved !== undefined) (await import('../core/checkpoint.js')).loadCheckpoint(saved.spaces, spaces)
  let position = saved?.position ?? 0
  const instant = (now = systemClock.wall()): Instant => ({ now, position: ++position })

  async function forward({ request, complete }: Forward, left: AbortSignal | undefined): Promise<Reply> {
    if (upstream === undefined) throw new Error('No --upstream service is configured.')
    return complete(await upstream.send(request, left), instant())
  }

  return {
    spaces,
    readSeed,
    answer(command, wall, left) {
      const reply = spaces.apply({ kind: 'request', ...command }, instant(wall))
      return 'complete' in reply ? forward(reply, left?.()) : reply
    },
    ended(exchanges, unread) {
      const at = instant()
      spaces.apply({ kind: 'ended', exchanges, unread }, at)
      return at.position
    },
    target: {
      // Snapshots of other spaces are in memory.
      snapshotsOf: (space) => (space === spaces.default ? store?.snapshots : undefined),
      async change(command, applyVerb) {
        const at = instant()
        return { output: spaces.apply(command, at, applyVerb), wall: at.now }
      },
      read: async (act) => act(systemClock.wall()),
      replicas: () => [],
    },
    async save() {
      const { writeCheckpoint } = await import('../core/checkpoint.js')
      return { position, spaces: writeCheckpoint(spaces) }
    },
    health: () => ({ status: 'healthy' }),
    async begin() {
      if (store === undefined) return
      const isNew = options.reset || store.state === undefined
      const count = fixtures.records.reduce((sum, [, { values }]) => sum + values.length, 0)
      if (isNew && count >= MANY_RECORDS) deps.progress(`Writing ${counted(count, 'record')} …`)
      if (!isNew && (options.generate.length > 0 || options.fixtures !== undefined)) {
        deps.warn(
          `The store "${options.store}" already exists: --generate and --fixtures only apply to a new store. Add --reset to start over from them.`,
        )
      }
      await store.begin(() => spaces.default.committed())
    },
  }
}
