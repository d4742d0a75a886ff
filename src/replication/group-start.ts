import { parseJson, stringifyJson } from '../contract/json.js'
import type { StoredState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import { resolveFrozenStart, type SandboxDeps } from '../executor/executor.js'
import { kebabName } from '../options/names.js'
import type { ResolvedOptions } from '../options/resolve.js'
import { type Content, Layout } from '../store/layout.js'
import { packageVersion } from '../system/package-files.js'
import { digestOf } from '../system/runtime.js'
import { differences, FIXTURES, type GroupFacts } from './group.js'

/** What a group starts from: values that all its replicas share. */
export type GroupStart = Awaited<ReturnType<typeof readGroupStart>>

export async function readGroupStart({ options, contract, seedsOf, check, openSpaces }: SandboxDeps) {
  const layout = new Layout(contract.resources)
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
  const othersOf = (seed: number): GroupFacts['others'] => ({
    ...others,
    [FIXTURES]: digestOf(stringifyJson(seedOf(seed)())),
  })
  /** Of a group with another contract, perhaps. */
  const readState = (text: string) => layout.read(parseJson(text) as Content)
  return {
    seedOf,
    /** Values that are not configured come from the group, or are chosen now. */
    facts(known: GroupFacts | undefined, now: EpochMs): GroupFacts {
      const seed = options.isSeedRandom ? (known?.seed ?? options.seed) : options.seed
      // A clock frozen at the start is frozen at the start of the group.
      const isAtStart = options.start.freeze && typeof options.start.now !== 'number'
      const groupStart = isAtStart ? known?.start.now : undefined
      const start = groupStart === undefined ? options.start : { ...options.start, now: groupStart }
      return { seed, start: resolveFrozenStart(start, now, contract), others: othersOf(seed) }
    },
    /** Why this replica may read the commands of a group in another way; it takes seed and start from the group. */
    misreadings: (known: GroupFacts) => differences({ ...known, others: othersOf(known.seed) }, known),
    /** @throws Failure if the state does not fit the contract, or a group cannot start with these facts */
    check: ({ seed }: GroupFacts, state: string | undefined) =>
      check(state === undefined ? seedOf(seed)() : readState(state)),
    readState,
    stateText: (state: StoredState) => stringifyJson(layout.write(state)),
    build(facts: GroupFacts, at: EpochMs, state: StoredState | string | undefined, isReported: () => boolean) {
      const kept = typeof state === 'string' ? readState(state) : state
      return openSpaces(facts, at, seedOf(facts.seed)(), { state: kept, isReported })
    },
  }
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
