import type { Contract } from '../contract/contract.js'
import type { ResponseRules } from '../contract/response-rules.js'
import { SpecError } from '../contract/spec-error.js'
import type { CallerRole, SandboxIdentity } from '../control/routes.js'
import type { ControlTarget, VerbDone } from '../control/verb.js'
import { Keyring } from '../core/keyring.js'
import { MemoryBudget } from '../core/memory-budget.js'
import { Space } from '../core/space.js'
import type { SpaceContext } from '../core/space-context.js'
import { Spaces } from '../core/spaces.js'
import type { FaultRule } from '../domain/faults.js'
import type { ApiKey } from '../domain/keys.js'
import { type PendingReply, UNREADABLE } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import { createHider } from '../domain/redaction.js'
import type { SpaceStart } from '../domain/state.js'
import type { Upstream } from '../domain/upstream.js'
import { LogBudget } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { type CommandExecutor, resolveFrozenStart, type SandboxDeps, type SavedSandbox } from '../executor/executor.js'
import { createLocalExecutor } from '../executor/local.js'
import { createService } from '../executor/service.js'
import { seedReader } from '../fixtures/load-fixtures.js'
import type { ServiceHandlers } from '../http/fetch-adapter.js'
import { OptionsError } from '../options/options.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { isLoopback } from '../options/values/address.js'
import { type CleanupStack, openInSteps } from '../system/cleanup-stack.js'
import { lazily } from '../system/lazily.js'
import { messageOf } from '../system/message-of.js'
import { packageVersion } from '../system/package-files.js'
import { systemClock } from '../system/system-clock.js'
import { allowListeners, processId } from '../system/this-process.js'
import {
  createReplicaExecutor,
  openContract,
  openEngine,
  openSeeds,
  openStore,
  openUpstream,
  type ReplicaOverrides,
  readHandlers,
} from './platform.js'
import { checkKeys, checkOperations, checkPlans, labelKeys, unreachableNotes } from './start-checks.js'

export type { SavedSandbox } from '../executor/executor.js'

export interface SandboxEvents {
  /** Starts this sandbox again. Known once it listens. */
  command?(): string
  onExchange?(record: ExchangeRecord): void
  onWarning?(message: string): void
  onProgress?(text: string): void
  onShutdown?(): void
  onVerb?(done: VerbDone): void
}

export interface SandboxCore extends ServiceHandlers, Pick<CommandExecutor, 'spaces' | 'save'> {
  readonly identity: SandboxIdentity
  readonly controlTarget: ControlTarget
  /** Responds to input that is not a request, with the common headers. */
  refuse(code: ProblemCode, address: string): PendingReply
  /** The control plane; loaded on first use. */
  control(request: Request, caller?: CallerRole): Promise<Response>
  /**
   * Starts writing to the store. A start that fails before this overwrites nothing.
   * @param address `host:port` where it listens; empty for none
   */
  begin(address: string): Promise<void>
  /**
   * Changes the start of all spaces. Settings, storm and faults change immediately.
   * @throws Failure UNKNOWN_OPERATION, UNKNOWN_KEY, without any change
   */
  startAs(start: SpaceStart): void
  /** Reads the module of `handlers` again, if there is one. @throws OptionsError, without any change */
  loadHandlers(): Promise<void>
  end(): void
  close(): Promise<void>
}

interface Reporter {
  warn(message: string): void
  progress(text: string): void
}

interface Prepared extends Pick<SandboxDeps, 'upstream' | 'seedsOf' | 'check' | 'checkFaults'> {
  readonly responseRules: () => Promise<ResponseRules>
}

/** @throws Failure, OptionsError, SpecError for problems of options, contract and fixtures */
async function prepareStart(
  options: ResolvedOptions,
  contract: Contract,
  opened: CleanupStack,
  report: Reporter,
): Promise<Prepared> {
  checkOperations(options, contract)
  checkPlans(options, contract)
  contract.notes.forEach(report.warn)
  unreachableNotes(options.basePath ?? contract.basePath, contract).forEach(report.warn)
  const responseRules = lazily(() => readRules(contract, options.spec))
  if (options.strict) (await import('../core/find-violation.js')).ignoredParameters(contract).forEach(report.warn)
  // Reports problems of a custom contract at the start, not to its first client.
  if (options.strict && options.spec !== undefined) await responseRules()
  const checkFaults = async (faults: readonly FaultRule[]) => {
    if (faults.every(({ body, when }) => body === undefined && when?.body === undefined)) return
    const { findFaultViolations } = await import('../core/find-violation.js')
    const problems = findFaultViolations(await responseRules(), contract, faults)
    if (options.strict && problems.length > 0) throw new OptionsError(problems)
    problems.forEach(report.warn)
  }
  await checkFaults(options.start.faults)
  let upstream: Upstream | undefined
  if (options.upstream !== undefined) {
    upstream = await openUpstream(options.upstream, options, contract, report.warn)
    opened.defer(upstream.close)
    if (options.cors === '*')
      report.warn(`--cors *: any website that you visit may use ${options.upstream} through this sandbox.`)
  }
  const seeds = await openSeeds(options, contract)
  return {
    responseRules,
    upstream,
    checkFaults,
    seedsOf: (seed) => seedReader({ ...options, seed, ...seeds(seed) }, contract, report),
    check: ({ keys }) => checkKeys(options, [...keys, ...labelKeys(options.apiKeys, keys)]),
  }
}

/**
 * Checks options, contract and fixtures as a start does, without opening store, port or Redis.
 * @param storedKeys undefined without a store
 * @throws the errors of the start
 */
export function checkStart(
  options: ResolvedOptions,
  contract: Contract,
  storedKeys: readonly ApiKey[] | undefined,
): Promise<void> {
  return openInSteps(async (opened) => {
    const { seedsOf, check } = await prepareStart(options, contract, opened, { warn() {}, progress() {} })
    const seed = seedsOf(options.seed)()
    check({ ...seed, keys: storedKeys ?? seed.keys })
    await opened.close()
  })
}

/**
 * Wires a sandbox. A failure closes all opened parts in reverse order.
 * @throws an error with a code: SPEC_INVALID, STORE_LOCKED …
 */
export function openSandboxCore(
  options: ResolvedOptions,
  events: SandboxEvents,
  given?: Contract,
  overrides?: ReplicaOverrides,
  saved?: SavedSandbox,
): Promise<SandboxCore> {
  return openInSteps(async (opened) => {
    const report: Reporter = {
      warn: (message) => events.onWarning?.(message),
      progress: (text) => events.onProgress?.(text),
    }
    const startedAt = systemClock.wall()
    const contract = given ?? (await openContract(options.spec, { mocked: options.mock }))
    const prepared = await prepareStart(options, contract, opened, report)
    const engine = lazily(() => openEngine(contract))
    const { responseRules, ...parts } = prepared
    const openSpaces = spacesOpener(options, contract, prepared.upstream, events, report.warn)
    const deps: SandboxDeps = { options, contract, startedAt, opened, openSpaces, ...parts, ...report }
    const open = async (keys: readonly ApiKey[]) =>
      options.store === undefined ? undefined : openStore(options.store, options, contract, keys, report)
    const executor =
      options.groupLog === undefined
        ? await createLocalExecutor(deps, open, saved)
        : await createReplicaExecutor(deps, options.groupLog, overrides)
    const stopping = new AbortController()
    opened.defer(() => stopping.abort())
    allowListeners(stopping.signal)
    const core: Omit<SandboxCore, 'control'> = {
      identity: { pid: processId, startedAt: new Date(startedAt).toISOString() },
      get spaces() {
        return executor.spaces
      },
      controlTarget: controlTarget(deps, executor, events, stopping.signal, () => core),
      service: createService(deps, executor, engine, responseRules),
      ended: (exchanges, unread) => executor.ended(exchanges, unread),
      refuse(code, address) {
        const request = {
          method: UNREADABLE,
          target: UNREADABLE,
          headers: {},
          rawHeaders: [],
          body: undefined,
          address,
        }
        return executor.answer({ request: { ...request, connection: 0, deliveredUpTo: 0 }, refused: code })
      },
      save: () => executor.save(),
      begin: (address) => executor.begin(address),
      startAs(start) {
        checkOperations({ ...options, start, mock: [] }, contract)
        checkPlans({ ...options, start }, contract)
        checkKeys({ start }, [...executor.spaces.default.keys.values()])
        executor.spaces.startAs(resolveFrozenStart(start, startedAt, contract), systemClock.wall())
      },
      async loadHandlers() {
        if (options.handlers === undefined) return
        const { replaceHandlers } = await import('../control/handlers.js')
        replaceHandlers(executor.spaces.default, await readHandlers(options.handlers), options.handlers)
      },
      end: () => stopping.abort(),
      close: () => opened.close(),
    }
    await core.loadHandlers()
    const routes = lazily(async () => {
      const { controlRoutes } = await import('../control/routes.js')
      return controlRoutes({
        sandbox: core.controlTarget,
        contract,
        version: packageVersion,
        identity: core.identity,
        rules: { token: options.controlToken, origins: options.controlOrigins },
        health: () => executor.health(),
        warn: report.warn,
      })
    })
    return Object.assign(core, {
      control: async (request: Request, caller?: CallerRole) => (await routes())(request, caller),
    })
  })
}

function spacesOpener(
  options: ResolvedOptions,
  contract: Contract,
  upstream: Upstream | undefined,
  events: SandboxEvents,
  warn: Reporter['warn'],
): SandboxDeps['openSpaces'] {
  return ({ seed, start }, at, fixtures, { state, store, isReported = () => true } = {}) => {
    const { keys } = state ?? fixtures
    // Stored keys are not secret. Replicas use the fixtures, which all of them have.
    const apiKeys = labelKeys(options.apiKeys, store === undefined ? fixtures.keys : keys)
    const secrets = apiKeys.filter(({ label }) => label !== undefined).map(({ key }) => key)
    const shared: SpaceContext = {
      contract,
      basePath: options.basePath ?? contract.basePath,
      start,
      keys: new Keyring(keys, apiKeys),
      hide: createHider([...secrets, ...(upstream?.secrets ?? [])]),
      anyKey: options.anyKey,
      hasLogins: upstream === undefined && options.groupLog === undefined && isLoopback(options.host),
      handlers: options.groupLog === undefined ? new Map() : undefined,
      spaceFrom: options.spaceFrom,
      seed,
      order: options.order,
      reason: options.reason,
      cors: options.cors,
      logLimit: options.logLimit,
      logBudget: new LogBudget(),
      memoryBudget: new MemoryBudget(options.maxStore, warn),
      upstream,
      process: {
        get command() {
          return events.command?.() ?? null
        },
        store: options.store ?? null,
        isReplica: options.groupLog !== undefined,
      },
      warn,
      onExchange:
        events.onExchange &&
        ((record) => {
          if (isReported()) events.onExchange?.(record)
        }),
    }
    return new Spaces(shared, new Space('', shared, at, fixtures, state, store), fixtures, options.maxSpaces)
  }
}

function controlTarget(
  { check, checkFaults }: SandboxDeps,
  executor: CommandExecutor,
  events: SandboxEvents,
  stopping: AbortSignal,
  core: () => ServiceHandlers,
): ControlTarget {
  return {
    get spaces() {
      return executor.spaces
    },
    ...executor.target,
    stopping,
    async send(request, replied) {
      const { createFetch } = await import('../http/fetch-adapter.js')
      return await createFetch(core(), stopping)(request, { replied, isOwn: true })
    },
    shutdown: () => events.onShutdown?.(),
    onVerb: (done) => events.onVerb?.(done),
    checkFaults,
    readFixtures() {
      const seed = executor.readSeed()
      check(seed)
      return seed
    },
  }
}

/** `linear`, because clients may choose the matched text. */
async function readRules(contract: Contract, file = 'openapi.yaml'): Promise<ResponseRules> {
  const { readResponseRules } = await import('../contract/response-rules.js')
  return readResponseRules(contract, 'linear').catch((error: unknown) => {
    throw new SpecError(`${file}: ${messageOf(error)}`, { cause: error })
  })
}
