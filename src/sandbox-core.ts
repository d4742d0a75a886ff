import { type Applier, type Ground, type SavedSandbox, standing } from './applier.js'
import { conductReport } from './conduct/conduct-report.js'
import type { Conduct } from './conduct/conduct-view.js'
import type { AnswerRules } from './contract/answer-rules.js'
import type { Contract } from './contract/contract.js'
import type { ClosableEngine } from './contract/engine.js'
import { SpecError } from './contract/spec-error.js'
import { DASHBOARD_PATH } from './control/path.js'
import type { Asker, ControlPlane, controlRoutes, SandboxIdentity } from './control/routes.js'
import type { ControlTarget, VerbDone } from './control/verb.js'
import { checkpointOf, loadCheckpoint } from './core/checkpoint.js'
import type { Instant } from './core/command.js'
import { type Question, questionFor } from './core/engine-request.js'
import { Keyring } from './core/keyring.js'
import { Machine } from './core/machine.js'
import { MemoryRoom } from './core/memory-room.js'
import { Space } from './core/space.js'
import type { SpaceContext } from './core/space-context.js'
import { Spaces } from './core/spaces.js'
import { Failure } from './domain/failures.js'
import { type ApiKey, DEFAULT_KEY, labelOf } from './domain/keys.js'
import {
  type EndedExchange,
  type ExchangeRef,
  type PendingReply,
  type Reply,
  type ServiceRequest,
  UNREAD,
} from './domain/messages.js'
import type { ProblemCode } from './domain/problems.js'
import { hider } from './domain/redaction.js'
import type { SpaceStart } from './domain/space-start.js'
import type { SpaceState } from './domain/state.js'
import { FIRST_LOCAL_ID, type Forward } from './domain/upstream.js'
import { LogBudget } from './exchanges/exchange-log.js'
import type { ExchangeRecord } from './exchanges/exchange-record.js'
import { seedReader } from './fixtures/load-fixtures.js'
import { failedReply } from './http/failed-reply.js'
import { answerPreflight, refusalTeller } from './http/preflight.js'
import { redirectBrowser } from './http/redirect-browser.js'
import type { ResolvedOptions } from './options/options.js'
import { joinGroup, openContract, openEngine, openStore, openUpstream, type ReplicaDoors } from './sandbox-parts.js'
import { digestOf } from './system/digest.js'
import { messageOf } from './system/message-of.js'
import { packageVersion } from './system/package-files.js'
import { systemClock } from './system/system-clock.js'
import { allowListeners, processId } from './system/this-process.js'

export type { SavedSandbox } from './applier.js'

/** Events of a running sandbox, for whoever started it. */
export interface SandboxEvents {
  onExchange?(record: ExchangeRecord): void
  /** A space is about to be reset or removed, and with it what is known of the conduct in it. */
  onForget?(conduct: Conduct): void
  /** An undo has brought back what was forgotten last, so that it will be told again. */
  onRecall?(): void
  onWarning?(message: string): void
  /** The start is at something that takes seconds. */
  onProgress?(text: string): void
  /** A client of the control plane asked to stop. */
  onShutdown?(): void
  /** Somebody has changed something by a verb. */
  onVerb?(done: VerbDone): void
}

/** A sandbox with all its parts, not yet reachable over a socket. */
export interface SandboxCore {
  readonly identity: SandboxIdentity
  readonly spaces: Spaces
  /** What the verbs work on. */
  readonly controlTarget: ControlTarget
  /** Answers a request to the service. */
  service(request: ServiceRequest, left?: () => AbortSignal): PendingReply
  /** Waits until everything that replies may tell of is kept; undefined if it is. Never rejects. */
  settle(): Promise<void> | undefined
  /** What is sent in place of a reply, if it must not leave. */
  instead(reply: Reply): Reply | undefined
  /** Hears what became of replies, and which of those that were sent nobody may have read. @returns the position of that command */
  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number
  /** Answers what never became a request, with the common headers. */
  refuse(code: ProblemCode, address: string): PendingReply
  /** The control plane as a `fetch`; it is loaded on its first use. */
  control(request: Request, asker?: Asker): Promise<Response>
  /**
   * Starts writing: a new store, or the requested reset. Nothing is written before,
   * so a start that fails overwrites nothing.
   *
   * @param address `host:port` where it listens; empty for nowhere
   */
  begin(address: string): Promise<void>
  /**
   * Starts spaces differently from now on; settings, storm and faults change at once.
   *
   * @throws Failure UNKNOWN_OPERATION, UNKNOWN_KEY; nothing has changed then
   */
  startAs(start: SpaceStart): void
  /** All that it is now, for another one to go on from. */
  save(): SavedSandbox
  /** Ends whatever would otherwise never end, such as the stream of exchanges. */
  end(): void
  /** Finishes writing and releases the store. */
  close(): Promise<void>
}

/** Puts a sandbox together. Rejects with an error that has a code: SPEC_INVALID, STORE_LOCKED … */
export async function openSandboxCore(
  options: ResolvedOptions,
  events: SandboxEvents,
  given?: Contract,
  doors?: ReplicaDoors,
  saved?: SavedSandbox,
): Promise<SandboxCore> {
  const warn = (message: string) => events.onWarning?.(message)
  const startedAt = systemClock.wall()
  const contract = given ?? (await openContract(options.spec, { mocked: options.mock }))
  checkOperations(options, contract)
  const progress = (text: string) => events.onProgress?.(text)
  const answerRules = lazyRules(contract, options.spec)
  // What the packaged contract documents of its answers can be compiled; of another one, this is told at once, not to its first client.
  if (options.strict && options.spec !== undefined) await answerRules()
  const upstream =
    options.upstream === undefined
      ? undefined
      : await openUpstream(options.upstream, options, { contract, rules: await answerRules(), warn })
  const engine = lazyEngine(contract)
  const open: Ground['open'] = ({ seed, start }, at, fixtures, { state, keeper, isTold = () => true } = {}) => {
    const { keys } = state ?? fixtures
    // What a store has kept is no secret. Replicas go by what all of them have: the fixtures.
    const apiKeys = labelled(options.apiKeys, keeper === undefined ? fixtures.keys : keys)
    const shared: SpaceContext = {
      contract,
      basePath: options.basePath,
      start,
      keys: new Keyring(keys, apiKeys),
      hide: hider([
        ...apiKeys.filter(({ label }) => label !== undefined).map(({ key }) => key),
        ...(upstream?.secrets ?? []),
      ]),
      anyKey: options.anyKey,
      senders: options.senders,
      seed,
      order: options.order,
      reason: options.reason,
      cors: options.cors,
      logLimit: options.logLimit,
      logBudget: new LogBudget(),
      memoryRoom: new MemoryRoom(options.maxStore, warn),
      realService: upstream,
      warn,
      onExchange:
        events.onExchange &&
        ((record) => {
          if (isTold()) events.onExchange?.(record)
        }),
      onForget: (space) => {
        if (space.conduct.requests > 0 && isTold()) events.onForget?.(conductReport(space))
      },
      onRecall: () => {
        if (isTold()) events.onRecall?.()
      },
    }
    const space = new Space('', shared, at, fixtures, state, keeper)
    return new Spaces(shared, space, fixtures, options.maxSpaces)
  }
  const check: Ground['check'] = ({ keys }) => checkKeys(options, [...keys, ...labelled(options.apiKeys, keys)])
  const ground = { options, contract, startedAt, open, check, upstream, warn }
  const seedsOf = (seed: number) =>
    inFrontOf(options, seedReader({ ...options, seed }, contract.pets, { warn, progress }))
  const applier: Applier =
    options.groupLog === undefined
      ? await standAlone({ ...ground, readSeed: seedsOf(options.seed) }, progress, saved)
      : await joinGroup({ ...ground, seedsOf }, options.groupLog, doors)
  const stopping = new AbortController()
  // Each stream adds a listener, and there may be any number of streams.
  allowListeners(stopping.signal)
  const controlTarget: ControlTarget = {
    get spaces() {
      return applier.spaces
    },
    ...applier.target,
    stopping: stopping.signal,
    async send(request, replied) {
      const { fetchOf } = await import('./http/fetch-adapter.js')
      return await fetchOf(core, stopping.signal)(request, { replied })
    },
    makeRoom: (bytes) => applier.makeRoom(bytes),
    shutdown: () => events.onShutdown?.(),
    onVerb: (done) => events.onVerb?.(done),
    readFixtures() {
      const seed = applier.readSeed()
      check(seed)
      return seed
    },
  }
  const identity = { pid: processId, startedAt: new Date(startedAt).toISOString() }
  const onRefused = refusalTeller(options.cors, warn)

  /** Asks Prism what only Prism can answer. */
  async function askFirst(request: ServiceRequest, { operation, request: asked }: Question): Promise<Reply> {
    const mock = await engine.mock(asked).catch((error: unknown) => {
      warn(`Prism could not answer ${operation}: ${messageOf(error)}`)
      return undefined
    })
    return applier.answer({ request, mock })
  }

  /** For --strict: a reply of our own that breaks the contract is logged, and withheld. */
  async function holdToContract(request: ServiceRequest, reply: Reply): Promise<Reply> {
    if (!reply.isDocumented || request.method === 'HEAD') return reply
    const [rules, { findBreach }] = await Promise.all([answerRules(), import('./core/find-breach.js')])
    const breach = findBreach(rules, request, applier.spaces.default.shared, reply)
    if (breach === undefined) return reply
    warn(breach)
    reply.withheld = `The sandbox's own answer broke the contract. Its log says how.`
    return reply
  }

  const core: SandboxCore = {
    identity,
    get spaces() {
      return applier.spaces
    },
    controlTarget,
    service(request, left) {
      const wall = systemClock.wall()
      const { default: space } = applier.spaces
      const outside =
        answerPreflight(request, options.cors, space.now(wall), onRefused) ??
        redirectBrowser(request, DASHBOARD_PATH, space.now(wall))
      if (outside !== undefined) return outside
      const question = questionFor(space.shared, request)
      const room = request.body instanceof Uint8Array ? applier.makeRoom(request.body.length * 2) : undefined
      const reply =
        question !== undefined
          ? askFirst(request, question)
          : room === undefined
            ? applier.answer({ request }, wall, left)
            : room.then(() => applier.answer({ request }, undefined, left))
      if (!options.strict) return reply
      return Promise.resolve(reply).then((made) => holdToContract(request, made))
    },
    settle: applier.settle,
    instead(reply) {
      const { withheld } = reply
      if (withheld === undefined) return undefined
      return failedReply(reply, typeof withheld === 'string' ? withheld : NOT_KEPT)
    },
    ended: applier.ended,
    refuse(code, address) {
      const request = { method: UNREAD, target: UNREAD, headers: {}, rawHeaders: [], body: undefined, address }
      const unread: ServiceRequest = { ...request, connection: 0, heardUpTo: 0 }
      return applier.answer({ request: unread, refused: code })
    },
    control: lazyControl({
      sandbox: controlTarget,
      contract,
      version: packageVersion,
      identity,
      rules: { token: options.controlToken, origins: options.controlOrigins },
      health: applier.health,
      warn,
    }),
    save: applier.save,
    begin: applier.begin,
    startAs(start) {
      checkOperations({ start, mock: [] }, contract)
      checkKeys({ start }, [...applier.spaces.default.keys.values()])
      applier.spaces.startAs(standing(start, startedAt), systemClock.wall())
    },
    end: () => stopping.abort(),
    async close() {
      stopping.abort()
      await applier.close()
      await Promise.all([engine.close(), upstream?.close()])
    },
  }
  return core
}

/** A sandbox by itself: it applies commands as they come, and keeps what they change in its store. */
async function standAlone(
  ground: Ground & { readSeed(): SpaceState },
  progress: (text: string) => void,
  saved?: SavedSandbox,
): Promise<Applier> {
  const { options, contract, startedAt, upstream, warn, readSeed } = ground
  const fixtures = readSeed()
  const stored =
    options.store === undefined ? undefined : await openStore(options.store, options, contract, { warn, progress })
  const state = (options.reset ? undefined : stored?.state) ?? fixtures
  const keeper = stored?.keeper
  const how = { seed: options.seed, start: standing(options.start, startedAt) }
  ground.check(state)
  const spaces = ground.open(how, startedAt, fixtures, { state, keeper })
  const { default: space } = spaces
  const machine = new Machine(spaces)
  if (saved !== undefined) loadCheckpoint(spaces, saved.checkpoint)
  let position = saved?.position ?? 0
  const instant = (now = systemClock.wall()): Instant => ({ now, position: ++position })

  /** Does something at once, and gives its result when all that it may tell of is kept. */
  async function held<T>(act: () => T): Promise<T> {
    if (keeper === undefined) return act()
    const done = attempt(act)
    // A refusal, too, may tell of what is not kept.
    const witness: { withheld?: unknown } = {}
    keeper.watch(witness)
    await keeper.settle()
    if (witness.withheld !== undefined) throw witness.withheld
    return done()
  }

  /** Asks the real service what the gates have let through. */
  async function sendOn(forward: Forward, left: AbortSignal | undefined): Promise<Reply> {
    if (upstream === undefined) throw new Error('There is nowhere to send it on to.')
    const outcome = await upstream.send(forward, left)
    return watched(machine.apply({ kind: 'forwarded', of: forward.position, outcome }, instant()))
  }

  function watched(reply: Reply): Reply {
    keeper?.watch(reply, reply.isOperated && reply.exchange?.space === '')
    return reply
  }

  return {
    spaces,
    readSeed,
    answer(command, wall, left) {
      const reply = machine.apply({ kind: 'request', ...command }, instant(wall))
      return 'kind' in reply ? sendOn(reply, left?.()) : watched(reply)
    },
    makeRoom: (bytes) => stored?.makeRoom(bytes),
    settle: () => keeper?.settle(),
    ended(exchanges, unread) {
      const at = instant()
      machine.apply({ kind: 'ended', exchanges, unread }, at)
      return at.position
    },
    target: {
      // Those of other spaces go when their space does.
      snapshotsOf: (of) => (of === space ? stored?.snapshots : undefined),
      change(command, applyVerb) {
        machine.useVerbs(applyVerb)
        return held(() => {
          const at = instant()
          return { output: machine.apply(command, at), wall: at.now }
        })
      },
      async read(act) {
        for (;;) {
          try {
            return await held(() => act(systemClock.wall()))
          } catch (error) {
            // What was read had to be taken back.
            if (!(error instanceof Failure) || error.code !== 'STORE_WRITE_FAILED') throw error
          }
        }
      },
      replicas: () => [],
    },
    save: () => ({ position, checkpoint: checkpointOf(spaces) }),
    health: () => ({ status: 'healthy' }),
    async begin() {
      if (stored === undefined) return
      if (fixtures.pets.length >= MANY_PETS && (options.reset || stored.state === undefined))
        progress(`Writing ${fixtures.pets.length} pets …`)
      const isKept = stored.state !== undefined && !options.reset
      if (isKept && (options.pets !== undefined || options.fixtures !== undefined)) {
        warn(
          `The store "${options.store}" exists and is kept as it is; pets and fixtures only seed a new store. Add --reset to start over from them.`,
        )
      }
      await stored.begin(fixtures, () => space.state())
    },
    async close() {
      await keeper?.settle()
      await stored?.close()
    },
  }
}

/** Does something. @returns gives its result, or throws what it threw */
function attempt<T>(act: () => T): () => T {
  try {
    const result = act()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function checkOperations({ start, mock }: Pick<ResolvedOptions, 'start' | 'mock'>, contract: Contract): void {
  const known = contract.operations.map(({ id }) => id)
  for (const operation of mock) {
    if (known.includes(operation)) continue
    throw new Failure(
      'UNKNOWN_OPERATION',
      `--mock names the operation "${operation}", which the contract does not have. Use one of ${known.join(', ')}.`,
    )
  }
  for (const { operation } of start.faults) {
    if (operation === '*' || known.includes(operation)) continue
    throw new Failure(
      'UNKNOWN_OPERATION',
      `A fault names the operation "${operation}", which the contract does not have. Use * or one of ${known.join(', ')}.`,
    )
  }
}

/** What a scenario says of a key that is not there, or that is never banned, would do nothing, and nobody would know why. */
function checkKeys({ start }: Pick<ResolvedOptions, 'start'>, keys: readonly ApiKey[]): void {
  const labels = keys.map(labelOf)
  for (const name of [...Object.keys(start.used), ...Object.keys(start.bans)]) {
    const named = keys.find((apiKey) => apiKey.key === name || labelOf(apiKey) === name)
    if (named === undefined)
      throw new Failure(
        'UNKNOWN_KEY',
        `The scenario names the key "${name}", which is not there. There is ${labels.join(', ')}.`,
      )
    if (named.always === 'limited' && Object.hasOwn(start.bans, name))
      throw new Failure('UNKNOWN_KEY', `The scenario bans the key "${name}", which is never banned. Ban another one.`)
  }
}

/** What stands in logs and reports where no key of the sandbox does. */
const TAKEN_LABELS: readonly string[] = ['none', 'unknown', 'others']

/**
 * Gives each key of the start a label, so that it is shown and written nowhere:
 * it may be a real one. What the fixtures or the store hold is no secret.
 *
 * @throws Failure LABEL_TAKEN where a label would stand for two keys
 */
function labelled(apiKeys: readonly ApiKey[], seeded: readonly ApiKey[]): readonly ApiKey[] {
  const open = new Set([DEFAULT_KEY, ...seeded.map(({ key }) => key)])
  const all = apiKeys.map((apiKey) => {
    if (apiKey.label !== undefined || open.has(apiKey.key)) return apiKey
    return {
      ...apiKey,
      label: `key-${hexOf(digestOf(apiKey.key)).slice(0, LABEL_DIGITS)}`,
    }
  })
  for (const { key, label } of all) {
    if (label === undefined) continue
    const isTaken = open.has(label) || TAKEN_LABELS.includes(label)
    if (!isTaken && !all.some((other) => other.key !== key && (other.key === label || other.label === label))) continue
    throw new Failure(
      'LABEL_TAKEN',
      `The label "${label}" of an API key already stands for another. Choose another one.`,
    )
  }
  return all
}

function hexOf(base64: string): string {
  return [...atob(base64)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}

/** Enough to tell a sandbox's few keys apart, and no more of them than need be. */
const LABEL_DIGITS = 8

/** So many are made, or written, in a moment. */
const MANY_PETS = 100_000
/** What is said in place of an answer that may tell of what could not be kept. */
const NOT_KEPT = 'A change could not be stored, and was taken back. The log of the sandbox says why.'

/** In front of a real service nothing is there to begin with but what was asked for, and new ids are far above its own. */
function inFrontOf(options: ResolvedOptions, readSeed: () => SpaceState): () => SpaceState {
  if (options.upstream === undefined) return readSeed
  const isAsked = options.fixtures !== undefined || options.pets !== undefined
  const made = new WeakMap<SpaceState, SpaceState>()
  return () => {
    const seed = readSeed()
    const own = made.get(seed) ?? { ...seed, pets: isAsked ? seed.pets : [], nextPetId: FIRST_LOCAL_ID }
    made.set(seed, own)
    return own
  }
}

/** Prism takes a second to load, so it is loaded when it is first needed. */
function lazyEngine(contract: Contract): ClosableEngine {
  let engine: Promise<ClosableEngine> | undefined
  const load = () => {
    engine ??= openEngine(contract)
    return engine
  }
  return {
    mock: async (request) => (await load()).mock(request),
    close: async () => (await engine)?.close(),
  }
}

/** What answers are held to: compiled when that is first done. Strangers may choose what is matched. */
function lazyRules(contract: Contract, file = 'openapi.yaml'): () => Promise<AnswerRules> {
  let rules: Promise<AnswerRules> | undefined
  const read = async () => {
    const { readAnswerRules } = await import('./contract/answer-rules.js')
    return readAnswerRules(contract, 'linear').catch((error: unknown) => {
      throw new SpecError(`${file}: ${messageOf(error)}`, { cause: error })
    })
  }
  return () => {
    rules ??= read()
    return rules
  }
}

function lazyControl(plane: ControlPlane): SandboxCore['control'] {
  let answer: Promise<ReturnType<typeof controlRoutes>> | undefined
  return async (request, asker) => {
    answer ??= import('./control/routes.js').then(({ controlRoutes }) => controlRoutes(plane))
    return (await answer)(request, asker)
  }
}
