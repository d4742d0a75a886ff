import { conductReport } from '../../src/conduct/conduct-report.js'
import type { Contract } from '../../src/contract/contract.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { applyVerb } from '../../src/control/apply-verb.js'
import { readState } from '../../src/control/state.js'
import { VerbError } from '../../src/control/verb.js'
import type { Command, Instant } from '../../src/core/command.js'
import { Keyring } from '../../src/core/keyring.js'
import { MemoryBudget } from '../../src/core/memory-budget.js'
import { takeSnapshot } from '../../src/core/snapshots.js'
import { Space } from '../../src/core/space.js'
import type { SpaceContext, Store } from '../../src/core/space-context.js'
import { Spaces } from '../../src/core/spaces.js'
import { Failure } from '../../src/domain/failures.js'
import type { ApiKey } from '../../src/domain/keys.js'
import type { Reply } from '../../src/domain/messages.js'
import { StoreFull } from '../../src/domain/problems.js'
import { RecordRefused } from '../../src/domain/records.js'
import { createHider } from '../../src/domain/redaction.js'
import type { Snapshot } from '../../src/domain/state.js'
import type { EpochMs } from '../../src/domain/time.js'
import { LogBudget } from '../../src/exchanges/exchange-log.js'
import { loadSeed } from '../../src/fixtures/load-fixtures.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { embeddedOptions } from '../support/embedded-options.js'

/** When the wall clock of a test's machine begins. */
export const START: EpochMs = Date.parse('2026-03-01T10:00:00Z')

/** A key that was given at the start: its text may be shown nowhere, only its label. */
export const SECRET_KEY: ApiKey = { key: 's3cret-key', label: 'ci', plan: 'pro' }

/** What a test wants of its machine. */
export interface MachineOptions {
  /** Default: the packaged one. */
  readonly contract?: Contract
  readonly sandbox?: SandboxOptions
  /** Makes the store of the default space. */
  readonly store?: Store
  readonly warn?: (message: string) => void
}

/** A command, and when it comes. The input of its verb is as somebody sent it, not checked. */
export interface Step {
  readonly command: Command
  readonly instant: Instant
}

/** A machine that nothing but this process knows of. */
export function openMachine(given: MachineOptions = {}): Spaces {
  const { contract = packagedContract(), sandbox = {}, store, warn = () => {} } = given
  const options = embeddedOptions(sandbox)
  const seed = loadSeed(options, contract)
  const shared: SpaceContext = {
    process: { command: null, store: null, isReplica: false },
    ...options,
    contract,
    basePath: contract.basePath,
    keys: new Keyring(seed.keys, [SECRET_KEY]),
    hide: createHider([SECRET_KEY.key]),
    logBudget: new LogBudget(),
    memoryBudget: new MemoryBudget(options.maxStore, warn),
    warn,
    onExchange: undefined,
    upstream: undefined,
    handlers: undefined,
    hasLogins: true,
  }
  const space = new Space('', shared, START, seed, seed, store)
  return new Spaces(shared, space, seed, options.maxSpaces)
}

export type Outcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'output'; readonly output: unknown }
  /** The verb was refused without a change. */
  | { readonly kind: 'refusal'; readonly error: Error }

/** Applies a step. Throws what no verb may throw. */
export function applyStep(machine: Spaces, { command, instant }: Step): Outcome {
  if (command.kind !== 'verb') {
    const result = machine.apply(command, instant)
    if (command.kind === 'ended') return { kind: 'output', output: result ?? null }
    return { kind: 'reply', reply: result as Reply }
  }
  try {
    return { kind: 'output', output: machine.apply(command, instant, applyVerb) }
  } catch (error) {
    const isTold = [VerbError, StoreFull, RecordRefused, Failure].some((kind) => error instanceof kind)
    if (isTold) return { kind: 'refusal', error: error as Error }
    throw error
  }
}

/** An outcome as text, exactly; of a reply also the instructions for the server. */
export function outcomeText(outcome: Outcome): string {
  if (outcome.kind === 'output') return textOf(outcome.output)
  if (outcome.kind === 'refusal') {
    const { error } = outcome
    return textOf([error.name, 'code' in error ? error.code : undefined, error.message])
  }
  const { body, ...reply } = outcome.reply
  return textOf({ ...reply, body: typeof body === 'string' ? body : [...body.pieces()].join('') })
}

/** The visible state of a machine as text. Its checkpoint also has undo and the memory of conduct. */
export function stateText(spaces: Spaces, wall: EpochMs): string {
  return textOf(
    ['', ...spaces.names()].map((name) => {
      const space = spaces.get(name)
      if (space === undefined) throw new Error(`Unknown space "${name}".`)
      return {
        name,
        snapshot: inKeyOrder(takeSnapshot(space, wall)),
        clock: space.state.clock,
        plans: [...space.state.plans].toSorted(),
        keys: [...space.keys.values()],
        stored: space.storedKeys(),
        records: [...space.state.records].map(([name, records]) => [name, records.save()]),
        snapshots: [...space.snapshots],
        log: [...space.log],
        total: space.log.total,
        conduct: conductReport(space),
        state: readState(space, spaces, wall),
      }
    }),
  )
}

/** Accounts and plans of keys have no order; strangers are forgotten in theirs. */
function inKeyOrder({ accounts, plans = [], ...snapshot }: Snapshot) {
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
  const keys = accounts.filter(({ kind }) => kind === 'key').toSorted(byName)
  return {
    ...snapshot,
    plans: plans.toSorted(byName),
    accounts: [...keys, ...accounts.filter(({ kind }) => kind !== 'key')],
  }
}

/** Any value as JSON, with undefined, bigint, Map and special numbers kept distinct. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return { int64: String(part) }
    if (part === undefined) return { undefined: true }
    if (part instanceof Map) return [...part]
    if (typeof part === 'number' && (!Number.isFinite(part) || Object.is(part, -0))) return { number: String(part) }
    return part
  })
}

/** The first difference of two texts with its surroundings; undefined if they are equal. */
export function differenceOf(one: string, other: string): string | undefined {
  if (one === other) return undefined
  let at = 0
  while (one[at] === other[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 300), at + 200)
  return `at ${at}:\n${around(one)}\n\n${around(other)}`
}
