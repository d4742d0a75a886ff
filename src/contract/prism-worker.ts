import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../system/message-of.js'
import { createContract } from './create-contract.js'
import type { EngineRequest } from './engine.js'
import { parseJson } from './json.js'
import { openPrism } from './prism.js'
import { readContract } from './read-contract.js'

/** What the thread says: that it is ready (no result), what the engine answered, or why it could not. */
export type Word = { readonly result: unknown } | { readonly failure: string }

/** The thread that Prism runs in. It is given the contract as JSON, and answers one question after the other. */
async function run(json: string): Promise<void> {
  const { data } = readContract(parseJson(json), { handled: [] })
  const engine = await openPrism(createContract(data, {}, async () => json))
  parentPort?.on('message', (request: EngineRequest) => answer(() => engine.mock(request)))
}

async function answer(act: () => Promise<unknown>): Promise<void> {
  const word: Word = await act().then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: messageOf(error) }),
  )
  parentPort?.postMessage(word)
}

await answer(() => run(String(workerData)))
