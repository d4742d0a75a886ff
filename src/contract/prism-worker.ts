import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../system/message-of.js'
import type { EngineRequest } from './engine.js'
import { openPrism } from './prism.js'
import { prismContract } from './prism-contract.js'

export type ThreadMessage = { readonly result: unknown } | { readonly failure: string }

async function run(json: string): Promise<void> {
  const engine = await openPrism(await prismContract(json))
  parentPort?.on('message', (request: EngineRequest) => respond(() => engine.mock(request)))
}

async function respond(act: () => Promise<unknown>): Promise<void> {
  const message: ThreadMessage = await act().then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: messageOf(error) }),
  )
  parentPort?.postMessage(message)
}

await respond(() => run(String(workerData)))
