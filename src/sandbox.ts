import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import type { Contract } from './contract/contract.js'
import type { ContractEngine } from './contract/engine.js'
import { packagedContract } from './contract/packaged-contract.js'
import { CONTROL_PATH } from './control/path.js'
import type { ControlPlane } from './control/routes.js'
import type { Steerable } from './control/verb.js'
import type { PlanName } from './domain/keys.js'
import type { ProblemCode } from './domain/problems.js'
import { loadSeed } from './fixtures.js'
import { listen } from './http/listener.js'
import { answerPreflight } from './http/preflight.js'
import type { ResolvedOptions } from './options/options.js'
import { packageVersion } from './package-files.js'
import { problem } from './space/answers.js'
import type { ExchangeRecord } from './space/exchange.js'
import { LogBudget } from './space/exchange-log.js'
import type { PendingReply, Reply, ServiceRequest } from './space/message.js'
import { memoryShelf, type Shelf, type Snapshot } from './space/snapshot.js'
import { replyWith } from './space/space.js'
import { Spaces } from './space/spaces.js'
import { type Surroundings, World } from './space/world.js'
import type { OpenedStore } from './store/open-file-store.js'
import { SnapshotFolder } from './store/snapshot-folder.js'
import { systemClock } from './system-clock.js'

/** What a sandbox tells its owner while it runs. */
export interface SandboxEvents {
  onExchange?(record: ExchangeRecord): void
  onWarning?(message: string): void
  /** Somebody asked over the control plane to stop. */
  onShutdown?(): void
}

/** A sandbox with all its parts, not yet reachable over a socket. */
export interface Assembly {
  readonly spaces: Spaces
  /** What verbs work on. */
  readonly steerable: Steerable
  service(request: ServiceRequest): PendingReply
  /** The control plane as a `fetch`; it is loaded on its first use. */
  control(request: Request): Promise<Response>
  /**
   * Begins to write: a new store, or the reset that was asked for. Until then
   * nothing is, so that a start that fails overwrites nothing.
   */
  begin(): Promise<void>
  /** Ends what goes on without end, such as the stream of exchanges. */
  end(): void
  /** Writes what is to be written and gives the store free. */
  close(): Promise<void>
}

/** A sandbox that listens. */
export interface RunningSandbox {
  readonly assembly: Assembly
  readonly baseUrl: string
  readonly controlUrl: string
  readonly plan: PlanName
  readonly petCount: number
  /** Resolves when the port is free and everything is written; open answers may finish first, or are cut. */
  stop(how?: 'clean' | 'now'): Promise<void>
}

/** Could not start; the message says why and what to do. */
export class StartError extends Error {
  readonly code: 'UNKNOWN_OPERATION'

  constructor(code: StartError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Puts a sandbox together. Rejects with an error that has a code: SPEC_INVALID, STORE_LOCKED, STORE_CORRUPT … */
export async function assemble(options: ResolvedOptions, events: SandboxEvents): Promise<Assembly> {
  const warn = (message: string) => events.onWarning?.(message)
  const contract = await contractOf(options)
  checkFaults(options, contract)
  const fixtures = loadSeed(options)
  const stored = options.store === undefined ? undefined : await openStore(options, options.store, warn)
  const surroundings: Surroundings = {
    contract,
    basePath: options.basePath,
    systemClock,
    start: options.start,
    fixtures,
    apiKeys: options.apiKeys,
    anyKey: options.anyKey,
    seed: options.seed,
    order: options.order,
    reason: options.reason,
    cors: options.cors,
    logLimit: options.logLimit,
    logBudget: new LogBudget(),
    strict: options.strict,
    engine: lazyEngine(contract),
    warn,
    onExchange: (record) => events.onExchange?.(record),
  }
  const world = new World('', surroundings, options.reset ? undefined : stored?.state, stored?.store)
  const spaces = new Spaces(surroundings, world, options.maxSpaces)
  const stopping = new AbortController()
  const steerable: Steerable = {
    spaces,
    stopping: stopping.signal,
    shelfOf: shelves(world, options.store),
    shutdown: () => events.onShutdown?.(),
  }
  return {
    spaces,
    steerable,
    service: (request) => answerPreflight(request, options.cors) ?? spaces.handle(request),
    control: lazyControl({
      sandbox: steerable,
      contract,
      version: packageVersion,
      rules: { token: options.controlToken, origins: options.controlOrigins },
      warn,
    }),
    async begin() {
      if (stored === undefined) return
      // Before anything else can be appended, hence not awaited yet.
      const reset = options.reset && stored.state !== undefined
      const replaced = reset ? stored.store.append({ kind: 'replaced', state: fixtures }) : undefined
      await stored.store.start(() => world.state())
      await replaced
    },
    end: () => stopping.abort(),
    async close() {
      stopping.abort()
      await stored?.store.close()
    },
  }
}

/** Puts a sandbox together and opens its port. Rejects with an error that has a code: PORT_IN_USE, STORE_LOCKED … */
export async function runSandbox(options: ResolvedOptions, events: SandboxEvents = {}): Promise<RunningSandbox> {
  const assembly = await assemble(options, events)
  const { spaces, service, control } = assembly
  const warn = (message: string) => events.onWarning?.(message)
  try {
    const listener = await listen(options.host, options.port, {
      service,
      refuse: (code, address) => refuse(spaces.default, code, address),
      isControl: (target) => target === CONTROL_PATH || target.startsWith(`${CONTROL_PATH}/`),
      control: (request, response) => void answerControl(control, request, response, warn),
    })
    await assembly.begin().catch(async (error: unknown) => {
      await listener.stop('now')
      throw error
    })
    const origin = `http://${isAnyAddress(options.host) ? '127.0.0.1' : urlHost(options.host)}:${listener.port}`
    return {
      assembly,
      baseUrl: origin + options.basePath,
      controlUrl: origin + CONTROL_PATH,
      plan: options.start.settings.plan,
      petCount: spaces.default.pets.size,
      async stop(how = 'clean') {
        assembly.end()
        await listener.stop(how)
        await assembly.close()
      },
    }
  } catch (error) {
    await assembly.close()
    throw error
  }
}

async function contractOf({ spec }: ResolvedOptions): Promise<Contract> {
  if (spec === undefined) return packagedContract()
  const { loadContract } = await import('./contract/load-contract.js')
  return loadContract(spec)
}

function checkFaults({ start }: ResolvedOptions, contract: Contract): void {
  const known = contract.operations.map(({ id }) => id)
  for (const { operation } of start.faults) {
    if (operation === '*' || known.includes(operation)) continue
    throw new StartError(
      'UNKNOWN_OPERATION',
      `A fault names the operation "${operation}", which the contract does not have. Use * or one of ${known.join(', ')}.`,
    )
  }
}

async function openStore(
  { fsync }: ResolvedOptions,
  file: string,
  warn: (message: string) => void,
): Promise<OpenedStore> {
  const { openFileStore } = await import('./store/open-file-store.js')
  return openFileStore(file, { fsync, warn, now: systemClock.wall })
}

/** Snapshots of the default space lie beside its store; those of the others go with their space. */
function shelves(defaultWorld: World, store: string | undefined): Steerable['shelfOf'] {
  const shelves = new WeakMap<World, Shelf>()
  if (store !== undefined) shelves.set(defaultWorld, new SnapshotFolder<Snapshot>(join(dirname(store), 'snapshots')))
  return (world) => {
    const shelf = shelves.get(world) ?? memoryShelf()
    shelves.set(world, shelf)
    return shelf
  }
}

/** Prism takes a second to load, so it is loaded when it is first needed. */
function lazyEngine(contract: Contract): ContractEngine {
  let engine: Promise<ContractEngine> | undefined
  const load = () => {
    engine ??= import('./contract/prism.js').then(({ openPrism }) => openPrism(contract))
    return engine
  }
  return {
    mock: async (request) => (await load()).mock(request),
    check: async (request, answer) => (await load()).check(request, answer),
  }
}

function lazyControl(plane: ControlPlane): (request: Request) => Promise<Response> {
  let app: Promise<{ fetch(request: Request): Response | Promise<Response> }> | undefined
  return async (request) => {
    app ??= import('./control/routes.js').then(({ controlRoutes }) => controlRoutes(plane))
    return (await app).fetch(request)
  }
}

async function answerControl(
  control: Assembly['control'],
  request: IncomingMessage,
  response: ServerResponse,
  warn: (message: string) => void,
): Promise<void> {
  try {
    const { bridge } = await import('./http/control-bridge.js')
    await bridge(control, request, response)
  } catch (error) {
    if (!response.destroyed) warn(`The control plane failed: ${error instanceof Error ? error.message : error}`)
    response.destroy()
  }
}

/** Answers what never became a request, with the headers that every answer has. */
function refuse(world: World, code: ProblemCode, address: string): Reply {
  const nothing: ServiceRequest = { method: '-', target: '-', headers: {}, rawHeaders: [], body: undefined, address }
  return replyWith(world, nothing, undefined, problem(code, { outside: true }))
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
