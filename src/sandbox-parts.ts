import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { KeptState } from './applier.js'
import type { AnswerRules } from './contract/answer-rules.js'
import type { Contract } from './contract/contract.js'
import type { ClosableEngine } from './contract/engine.js'
import type { RealService } from './core/real-service.js'
import type { Pet } from './domain/pets.js'
import { type Bytes, formatSize, MIB } from './domain/size.js'
import type { ResolvedOptions } from './options/options.js'
import { Keeper } from './store/keeper.js'
import { openFileStore } from './store/open-file-store.js'
import { petReader, type Reader } from './store/shape.js'
import { SnapshotFolder } from './store/snapshot-folder.js'
import { systemClock } from './system/system-clock.js'

// The parts of a sandbox that take a disk, sockets or threads, so that a sandbox in a browser does without them:
// sandbox-parts.browser.ts stands in their place there. All but the store are loaded when somebody needs them.

export { openContract } from './contract/open-contract.js'
export type { ReplicaDoors } from './sandbox-replica.js'

export const joinGroup: typeof import('./sandbox-replica.js').joinGroup = async (...given) =>
  (await import('./sandbox-replica.js')).joinGroup(...given)

/** Prism, which takes a second to load. */
export async function openEngine(contract: Contract): Promise<ClosableEngine> {
  const { openPrismThread } = await import('./contract/prism-thread.js')
  return openPrismThread(contract)
}

/** The real service behind the sandbox. */
export async function openUpstream(
  baseUrl: string,
  options: ResolvedOptions,
  { contract, rules, warn }: { readonly contract: Contract; readonly rules: AnswerRules; warn(message: string): void },
): Promise<RealService> {
  const [{ openRealService }, { keptPet }] = await Promise.all([
    import('./client/real-service.js'),
    import('./fixtures/kept-pet.js'),
  ])
  return openRealService(baseUrl, options, {
    contract,
    rules,
    env: process.env,
    keptPet: (pet) => keptPet(pet, contract.pets),
    warn,
  })
}

/** Opens the store's file, and reads what is in it. */
export async function openStore(
  file: string,
  { fsync, maxStore, reset }: ResolvedOptions,
  { pets }: Contract,
  tell: { warn(message: string): void; progress(text: string): void },
): Promise<KeptState> {
  announceReading(file, tell.progress)
  const readPet: Reader<Pet> | undefined = pets && petReader(pets)
  const { warn } = tell
  const { state, store } = await openFileStore(file, {
    fsync,
    maxBytes: maxStore,
    warn,
    now: systemClock.wall,
    readPet,
  })
  return {
    state,
    keeper: new Keeper(store, warn),
    snapshots: new SnapshotFolder(join(dirname(file), 'snapshots'), readPet),
    makeRoom: (bytes) => store.makeRoom(bytes),
    async begin(fixtures, stateNow) {
      if (reset && state !== undefined) {
        store.take({ kind: 'replaced', state: fixtures })
        await store.write()
      }
      await store.start(stateNow)
    },
    close: () => store.close(),
  }
}

/** So much is read in a moment. */
const LONG_FILE: Bytes = 10 * MIB

function announceReading(store: string, progress: (text: string) => void): void {
  for (const file of [store, `${store}.journal`]) {
    const size = sizeOf(file)
    if (size >= LONG_FILE) progress(`Reading "${file}" (${formatSize(Math.floor(size / MIB) * MIB)}) …`)
  }
}

function sizeOf(file: string): Bytes {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    // Whoever opens it says what is wrong with it.
    return 0
  }
}
