import { setMaxListeners } from 'node:events'
import { dirname, join } from 'node:path'
import { conductReport } from './conduct/conduct-report.js'
import type { Conduct } from './conduct/conduct-view.js'
import type { Contract } from './contract/contract.js'
import { openContract } from './contract/open-contract.js'
import type { ClosableEngine } from './contract/prism-thread.js'
import { DASHBOARD_PATH } from './control/path.js'
import type { ControlPlane, SandboxIdentity } from './control/routes.js'
import type { ControlTarget } from './control/verb.js'
import { Keyring } from './core/keyring.js'
import { MemoryRoom } from './core/memory-room.js'
import type { OpenedStore } from './core/ports.js'
import { memorySnapshots, type SnapshotStore } from './core/snapshot.js'
import { Space, type SpaceContext } from './core/space.js'
import { Spaces } from './core/spaces.js'
import { Failure } from './domain/failures.js'
import { type ApiKey, DEFAULT_KEY, labelOf } from './domain/keys.js'
import type { PendingReply, ServiceRequest } from './domain/messages.js'
import type { Pet } from './domain/pets.js'
import { hider } from './domain/redaction.js'
import { LogBudget } from './exchanges/exchange-log.js'
import type { ExchangeRecord } from './exchanges/exchange-record.js'
import { loadSeed } from './fixtures/load-fixtures.js'
import { answerPreflight, refusalTeller } from './http/preflight.js'
import { redirectBrowser } from './http/redirect-browser.js'
import type { ResolvedOptions } from './options/options.js'
import { openFileStore } from './store/open-file-store.js'
import { petReader, type Reader } from './store/shape.js'
import { SnapshotFolder } from './store/snapshot-folder.js'
import { digestOf } from './system/digest.js'
import { packageVersion } from './system/package-files.js'
import { systemClock } from './system/system-clock.js'

/** Events of a running sandbox, for whoever started it. */
export interface SandboxEvents {
  onExchange?(record: ExchangeRecord): void
  /** A space is about to be reset or removed, and with it what is known of the conduct in it. */
  onForget?(conduct: Conduct): void
  onWarning?(message: string): void
  /** A client of the control plane asked to stop. */
  onShutdown?(): void
}

/** A sandbox with all its parts, not yet reachable over a socket. */
export interface SandboxCore {
  readonly identity: SandboxIdentity
  readonly spaces: Spaces
  /** What the verbs work on. */
  readonly controlTarget: ControlTarget
  service(request: ServiceRequest): PendingReply
  /** The control plane as a `fetch`; it is loaded on its first use. */
  control(request: Request): Promise<Response>
  /**
   * Starts writing: a new store, or the requested reset. Nothing is written before,
   * so a start that fails overwrites nothing.
   */
  begin(): Promise<void>
  /** Ends whatever would otherwise never end, such as the stream of exchanges. */
  end(): void
  /** Finishes writing and releases the store. */
  close(): Promise<void>
}

/** Puts a sandbox together. Rejects with an error that has a code: SPEC_INVALID, STORE_LOCKED, STORE_CORRUPT … */
export async function openSandboxCore(
  options: ResolvedOptions,
  events: SandboxEvents,
  given?: Contract,
): Promise<SandboxCore> {
  const warn = (message: string) => events.onWarning?.(message)
  const startedAt = systemClock.wall()
  const contract = given ?? (await openContract(options.spec))
  checkFaults(options, contract)
  const readPet = contract.pets && petReader(contract.pets)
  const fixtures = loadSeed(options, contract.pets, warn)
  const stored = options.store === undefined ? undefined : await openStore(options, options.store, warn, readPet)
  const state = (options.reset ? undefined : stored?.state) ?? fixtures
  const apiKeys = labelled(options.apiKeys, state.keys)
  const engine = lazyEngine(contract)
  const shared: SpaceContext = {
    contract,
    basePath: options.basePath,
    systemClock,
    // Frozen without an instant, all spaces stand at this one, and return to it.
    start: options.start.freeze ? { ...options.start, now: options.start.now ?? startedAt } : options.start,
    keys: new Keyring(state.keys, apiKeys),
    hide: hider(apiKeys.filter(({ label }) => label !== undefined).map(({ key }) => key)),
    anyKey: options.anyKey,
    seed: options.seed,
    order: options.order,
    reason: options.reason,
    cors: options.cors,
    logLimit: options.logLimit,
    logBudget: new LogBudget(),
    memoryRoom: new MemoryRoom(options.maxStore, warn),
    strict: options.strict,
    engine,
    warn,
    onExchange: (record) => events.onExchange?.(record),
    onForget: (space) => {
      if (space.conduct.requests > 0) events.onForget?.(conductReport(space))
    },
  }
  checkKeys(options, [...state.keys, ...apiKeys])
  const space = new Space('', shared, startedAt, fixtures, state, stored?.store)
  const spaces = new Spaces(shared, space, fixtures, options.maxSpaces)
  const stopping = new AbortController()
  // Each stream adds a listener, and there may be any number of streams.
  setMaxListeners(0, stopping.signal)
  const controlTarget: ControlTarget = {
    spaces,
    wall: systemClock.wall,
    stopping: stopping.signal,
    snapshotsOf: shelves(space, options.store, readPet),
    shutdown: () => events.onShutdown?.(),
  }
  const identity = { pid: process.pid, startedAt: new Date(startedAt).toISOString() }
  const onRefused = refusalTeller(options.cors, warn)
  return {
    identity,
    spaces,
    controlTarget,
    service(request) {
      const wall = systemClock.wall()
      const now = space.now(wall)
      return (
        answerPreflight(request, options.cors, now, onRefused) ??
        redirectBrowser(request, DASHBOARD_PATH, now) ??
        spaces.handle(request, wall)
      )
    },
    control: lazyControl({
      sandbox: controlTarget,
      contract,
      version: packageVersion,
      identity,
      rules: { token: options.controlToken, origins: options.controlOrigins },
      warn,
    }),
    async begin() {
      if (stored === undefined) return
      const isKept = stored.state !== undefined && !options.reset
      if (isKept && (options.pets !== undefined || options.fixtures !== undefined)) {
        warn(
          `The store "${options.store}" exists and is kept as it is; pets and fixtures only seed a new store. Add --reset to start over from them.`,
        )
      }
      // Before anything else can be appended, hence not awaited yet.
      const reset = options.reset && stored.state !== undefined
      const replaced = reset ? stored.store.append({ kind: 'replaced', state: fixtures }) : undefined
      await stored.store.start(() => space.state())
      await replaced
    },
    end: () => stopping.abort(),
    async close() {
      stopping.abort()
      await Promise.all([stored?.store.close(), engine.close()])
    },
  }
}

function checkFaults({ start }: ResolvedOptions, contract: Contract): void {
  const known = contract.operations.map(({ id }) => id)
  for (const { operation } of start.faults) {
    if (operation === '*' || known.includes(operation)) continue
    throw new Failure(
      'UNKNOWN_OPERATION',
      `A fault names the operation "${operation}", which the contract does not have. Use * or one of ${known.join(', ')}.`,
    )
  }
}

/** A scenario that names a key that does not exist would do nothing, and nobody would know why. */
function checkKeys({ start }: ResolvedOptions, keys: readonly ApiKey[]): void {
  const labels = keys.map(labelOf)
  for (const name of [...Object.keys(start.used), ...Object.keys(start.bans)]) {
    if (labels.includes(name) || keys.some(({ key }) => key === name)) continue
    throw new Failure(
      'UNKNOWN_KEY',
      `The scenario names the key "${name}", which is not there. There is ${labels.join(', ')}.`,
    )
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
      label: `key-${Buffer.from(digestOf(apiKey.key), 'base64').toString('hex').slice(0, LABEL_DIGITS)}`,
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

/** Enough to tell a sandbox's few keys apart, and no more of them than need be. */
const LABEL_DIGITS = 8

function openStore(
  { fsync, maxStore }: ResolvedOptions,
  file: string,
  warn: (message: string) => void,
  readPet: Reader<Pet> | undefined,
): Promise<OpenedStore> {
  return openFileStore(file, { fsync, maxBytes: maxStore, warn, now: systemClock.wall, readPet })
}

/** Snapshots of the default space are kept beside its store; those of other spaces go when their space does. */
function shelves(
  defaultSpace: Space,
  store: string | undefined,
  readPet: Reader<Pet> | undefined,
): ControlTarget['snapshotsOf'] {
  const shelves = new WeakMap<Space, SnapshotStore>()
  if (store !== undefined) shelves.set(defaultSpace, new SnapshotFolder(join(dirname(store), 'snapshots'), readPet))
  return (space) => {
    const snapshots = shelves.get(space) ?? memorySnapshots()
    shelves.set(space, snapshots)
    return snapshots
  }
}

/** Prism takes a second to load, so it is loaded when it is first needed. */
function lazyEngine(contract: Contract): ClosableEngine {
  let engine: Promise<ClosableEngine> | undefined
  const load = () => {
    engine ??= import('./contract/prism-thread.js').then(({ openPrismThread }) => openPrismThread(contract))
    return engine
  }
  return {
    mock: async (request) => (await load()).mock(request),
    check: async (request, answer) => (await load()).check(request, answer),
    close: async () => (await engine)?.close(),
  }
}

function lazyControl(plane: ControlPlane): (request: Request) => Promise<Response> {
  let app: Promise<{ fetch(request: Request): Response | Promise<Response> }> | undefined
  return async (request) => {
    app ??= import('./control/routes.js').then(({ controlRoutes }) => controlRoutes(plane))
    return (await app).fetch(request)
  }
}
