import { hostname } from 'node:os'
import { parseJson, stringifyJson } from '../contract/json.js'
import { applyVerb } from '../control/apply-verb.js'
import { checkInput, type Verb } from '../control/verb.js'
import type { VerbName } from '../control/verb-map.js'
import { reportVerb } from '../control/verb-text.js'
import { VERBS } from '../control/verbs.js'
import { problem } from '../core/responses.js'
import { unloggedReply } from '../core/unlogged-reply.js'
import { Failure } from '../domain/failures.js'
import { LogUnavailable } from '../domain/problems.js'
import { type RedisAddress, readRedisAddress } from '../domain/redis-address.js'
import type { StoredState } from '../domain/state.js'
import { DeliveryTracker } from '../http/delivery-tracker.js'
import { kebabName } from '../options/names.js'
import type { GroupLog, ResolvedOptions } from '../options/resolve.js'
import { FIXTURES, type GroupFacts } from '../replication/group.js'
import { openRedisLog } from '../replication/redis-log.js'
import { Replica, type ReplicaParts } from '../replication/replica.js'
import { asState } from '../store/recovery.js'
import { petReader } from '../store/shape.js'
import { packageVersion } from '../system/package-files.js'
import { digestOf } from '../system/runtime.js'
import { systemClock } from '../system/system-clock.js'
import { type CommandExecutor, resolveFrozenStart, type SandboxDeps } from './executor.js'

export type ReplicaOverrides = Partial<Pick<ReplicaParts, 'openLog' | 'openDeliveryTracker'>>

/** Executes commands through the log of a group of replicas. @throws Failure LOG_UNAVAILABLE, LOG_VERSION, GROUP_DIFFERS */
export async function createReplicaExecutor(
  deps: SandboxDeps,
  groupLog: GroupLog,
  overrides: ReplicaOverrides = {},
): Promise<CommandExecutor> {
  const parts = await partsOf(deps, groupLog)
  let joined: Replica | undefined
  const replica = await Replica.join({
    ...parts,
    build: (facts, at, state) =>
      deps.openSpaces(facts, at, parts.seedOf(facts.seed)(), {
        state,
        isReported: () => joined?.isApplyingOwn ?? false,
      }),
    ...overrides,
  })
  joined = replica
  deps.opened.defer(() => replica.leave())
  return {
    get spaces() {
      return replica.spaces
    },
    readSeed: () => parts.seedOf(replica.facts.seed)(),
    async answer(command) {
      try {
        return await replica.request(command)
      } catch (error) {
        if (error instanceof LogUnavailable)
          return unloggedReply(replica.spaces, command.request, systemClock.wall(), LOG_UNAVAILABLE)
        throw error
      }
    },
    ended(exchanges, unread) {
      replica.ended({ exchanges, unread })
      return 0
    },
    target: {
      snapshotsOf: () => undefined,
      async change(command) {
        const verb: Verb = VERBS[command.verb as VerbName]
        if (verb.hasUnknownKey !== undefined) {
          const input = checkInput(verb, command.input)
          const read = await replica.read((wall) => {
            const { spaces } = replica
            const space = spaces.get(command.space) ?? spaces.default
            if (verb.hasUnknownKey?.(space, input)) return { output: verb.run({ space, spaces, wall }, input), wall }
          })
          if (read !== undefined) return read
        }
        return replica.verb(command)
      },
      read: (act) => replica.read(act),
      replicas: (now) => replica.members(now),
    },
    save: () => ({ position: replica.position, spaces: stringifyJson(replica.spaces.save()) }),
    health() {
      const { unavailableReason: reason, position } = replica
      const progress = { position, lagMs: Math.round(replica.lagMs) }
      return reason === undefined ? { status: 'healthy', ...progress } : { status: 'degraded', reason, ...progress }
    },
    async begin(address) {
      replica.listensAt(address)
    },
  }
}

async function partsOf({ options, contract, warn, seedsOf, check }: SandboxDeps, { redis, group }: GroupLog) {
  const rules = contract.rules?.get('pets')
  const readPet = rules && petReader(rules)
  const others = otherFacts(
    { ...options, basePath: options.basePath ?? contract.basePath },
    await contract.text('yaml'),
  )
  const readers = new Map<number, () => StoredState>()
  const seedOf = (seed: number) => {
    const reader = readers.get(seed) ?? seedsOf(seed)
    readers.set(seed, reader)
    return reader
  }
  return {
    name: `${hostname()}-${process.pid}`,
    version: packageVersion,
    openLog: () => openRedisLog({ address: addressOf(redis), group, warn }),
    facts(known, now) {
      const seed = options.isSeedRandom ? (known?.seed ?? options.seed) : options.seed
      // A clock frozen at the start is frozen at the start of the group.
      const isAtStart = options.start.freeze && typeof options.start.now !== 'number'
      const groupStart = isAtStart ? known?.start.now : undefined
      const start = groupStart === undefined ? options.start : { ...options.start, now: groupStart }
      const fixtures = digestOf(stringifyJson(seedOf(seed)()))
      return { seed, start: resolveFrozenStart(start, now, contract), others: { ...others, [FIXTURES]: fixtures } }
    },
    check: (facts, state) => check(state ?? seedOf(facts.seed)()),
    readState: (text) => asState(parseJson(text), readPet),
    applyVerb,
    onVerb: (spaces, { space, verb, input }, output, now) =>
      void reportVerb(spaces, { space, name: verb, input, output }, now),
    secretKeys: options.apiKeys.map(({ key }) => key),
    reset: options.reset,
    openDeliveryTracker: () => new DeliveryTracker(),
    warn,
    seedOf,
  } satisfies Omit<ReplicaParts, 'build'> & { seedOf: unknown }
}

const LOG_UNAVAILABLE = problem('log_unavailable', { headers: ['Retry-After', '1'], reason: 'unavailable' })

function addressOf(redis: string): RedisAddress {
  const address = readRedisAddress(redis)
  if ('problem' in address) throw new Failure('LOG_UNAVAILABLE', `--redis ${address.problem}.`)
  return address
}

/** Options that affect responses, besides seed, start and fixtures. */
function otherFacts(options: ResolvedOptions & { readonly basePath: string }, contract: string): GroupFacts['others'] {
  const keys = options.apiKeys.map((apiKey) => ({ ...apiKey, key: digestOf(apiKey.key) }))
  return {
    'the version': packageVersion,
    'the contract': digestOf(contract),
    'the API keys (--api-key)': digestOf(stringifyJson(keys)),
    ...Object.fromEntries(
      SHARED.map((name) => [`--${kebabName({ name, negated: false })}`, stringifyJson(options[name])]),
    ),
  }
}

const SHARED = [
  ...(['basePath', 'order', 'reason', 'spaceFrom', 'anyKey', 'cors', 'logLimit', 'maxStore', 'maxSpaces'] as const),
  ...(['mock', 'generate'] as const),
]
