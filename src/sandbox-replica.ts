import { hostname } from 'node:os'
import { type Applier, type Ground, standing } from './applier.js'
import { parseJson, stringifyJson } from './contract/json.js'
import { applyVerb } from './control/apply-verb.js'
import { tellOf } from './control/tell-of.js'
import type { VerbName } from './control/verb-map.js'
import { checkpointOf, digestOfData } from './core/checkpoint.js'
import { unavailableReply } from './core/unavailable.js'
import { Failure } from './domain/failures.js'
import { LogUnavailable } from './domain/log-unavailable.js'
import { type RedisAddress, readRedisAddress } from './domain/redis-address.js'
import type { Bytes } from './domain/size.js'
import type { SpaceState } from './domain/state.js'
import type { EpochMs } from './domain/time.js'
import { Heard } from './http/heard.js'
import type { GroupLog } from './options/options.js'
import { FIXTURES, type GroupFacts } from './replication/group.js'
import { openRedisLog } from './replication/redis-log.js'
import { Replica, type ReplicaParts } from './replication/replica.js'
import { petReader } from './store/shape.js'
import { asState } from './store/snapshot-shape.js'
import { digestOf } from './system/digest.js'
import { messageOf } from './system/message-of.js'
import { packageVersion } from './system/package-files.js'
import { readRegularFile } from './system/regular-file.js'
import { systemClock } from './system/system-clock.js'

/** What a replica reaches outside; a test has its own. */
export interface ReplicaDoors extends Partial<Pick<ReplicaParts, 'openLog' | 'openHeard'>> {}

/** What only a replica needs. */
interface ReplicaGround extends Ground {
  /** What spaces start from, with a seed. */
  seedsOf(seed: number): () => SpaceState
}

/** A sandbox that is one of several: it applies what stands in the log that they share. @throws Failure LOG_UNAVAILABLE, LOG_VERSION, GROUP_DIFFERS */
export async function joinGroup(
  ground: ReplicaGround,
  { redis, group, copies }: GroupLog,
  doors: ReplicaDoors = {},
): Promise<Applier> {
  const { options, contract, warn } = ground
  const readPet = contract.pets && petReader(contract.pets)
  const others = factsOf(ground, await contract.text('yaml'))
  const seeds = memo(ground.seedsOf)
  let joined: Replica | undefined
  const replica = await Replica.join({
    name: `${hostname()}-${process.pid}`,
    version: packageVersion,
    openLog: doors.openLog ?? ((watcher) => openRedisLog({ address: addressOf(redis), group, copies, watcher, warn })),
    facts(known, now) {
      const seed = options.isSeedRandom ? (known?.seed ?? options.seed) : options.seed
      // A clock that is frozen at the start of the group, whenever that was, is so for all.
      const isAtStart = options.start.freeze && options.start.now === undefined
      const start = standing(options.start, (isAtStart ? known?.start.now : undefined) ?? now)
      return { seed, start, others: { ...others, [FIXTURES]: digestOfData(seeds(seed)()) } }
    },
    build: (facts, at, state) =>
      ground.open(facts, at, seeds(facts.seed)(), { state, isTold: () => joined?.isApplyingOwn ?? false }),
    check: (facts, state) => ground.check(state ?? seeds(facts.seed)()),
    readState: (text) => asState(parseJson(text), readPet),
    applyVerb,
    onVerb: (spaces, { space, verb, input }, output, now) =>
      void tellOf(spaces, { space, name: verb as VerbName, input, output }, now),
    secretKeys: options.apiKeys.map(({ key }) => key),
    reset: options.reset,
    openHeard: doors.openHeard ?? (() => new Heard()),
    warn,
  })
  joined = replica
  return {
    get spaces() {
      return replica.spaces
    },
    readSeed: () => seeds(replica.facts.seed)(),
    async answer(command) {
      try {
        return await replica.request(command)
      } catch (error) {
        if (error instanceof LogUnavailable)
          return unavailableReply(replica.spaces, command.request, systemClock.wall())
        throw error
      }
    },
    makeRoom: () => undefined,
    settle: () => undefined,
    ended(exchanges, unread) {
      replica.ended({ exchanges, unread })
      // A replica keeps account of who has heard what by the log.
      return 0
    },
    target: {
      snapshotsOf: () => undefined,
      change: (command) => replica.verb(command),
      read: (act) => replica.read(act),
      replicas: (now: EpochMs) => replica.members(now),
    },
    save: () => ({ position: replica.position, checkpoint: checkpointOf(replica.spaces) }),
    health() {
      const { away, position } = replica
      const facts = { position, lagMs: Math.round(replica.lagMs) }
      return away === undefined ? { status: 'healthy', ...facts } : { status: 'degraded', reason: away, ...facts }
    },
    async begin(address) {
      replica.listensAt(address)
    },
    close: () => replica.leave(),
  }
}

const LONGEST_ADDRESS: Bytes = 4096

/** @throws Failure LOG_UNAVAILABLE */
function addressOf(redis: GroupLog['redis']): RedisAddress {
  const address = readRedisAddress('address' in redis ? redis.address : textOf(redis.file))
  if (!('problem' in address)) return address
  const what = 'address' in redis ? '--redis' : `What stands in "${redis.file}" (--redis-file)`
  throw new Failure('LOG_UNAVAILABLE', `${what} ${address.problem}.`)
}

function textOf(file: string): string {
  try {
    return readRegularFile(file, LONGEST_ADDRESS).toString().trim()
  } catch (error) {
    throw new Failure('LOG_UNAVAILABLE', `"${file}" (--redis-file) cannot be read: ${messageOf(error)}`)
  }
}

/** What decides the answers, but for seed, start and fixtures. */
function factsOf({ options }: Ground, contract: string): GroupFacts['others'] {
  const keys = options.apiKeys.map((apiKey) => ({ ...apiKey, key: digestOf(apiKey.key) }))
  return {
    'the version': packageVersion,
    'the contract': digestOf(contract),
    'the API keys (--api-key)': digestOf(stringifyJson(keys)),
    '--base-path': options.basePath,
    '--order': options.order,
    '--reason': String(options.reason),
    '--any-key': String(options.anyKey),
    '--senders': String(options.senders),
    '--cors': String(options.cors),
    '--log-limit': String(options.logLimit),
    '--max-store': String(options.maxStore),
    '--max-spaces': String(options.maxSpaces),
    '--mock': options.mock.join(', '),
  }
}

function memo<T>(make: (seed: number) => T): (seed: number) => T {
  const made = new Map<number, T>()
  return (seed) => {
    const known = made.get(seed) ?? make(seed)
    made.set(seed, known)
    return known
  }
}
