import { Worker } from 'node:worker_threads'
import { clearTimeout, setTimeout } from '../system/system-clock.js'
import type { Contract } from './contract.js'
import type { ClosableEngine, EngineRefusal, EngineRequest, EngineResponse } from './engine.js'
import type { ThreadMessage } from './prism-worker.js'

/** Preparing the schemas of an operation may take exponential time, and matching a `pattern` may never end. */
const TIMEOUT_MS = 5_000
/** Loading Prism and the contract takes a second, more for contracts of megabytes. */
const LOAD_TIMEOUT_MS = 60_000
/** Circular schemas may use this much memory. */
const MAX_MEMORY_MB = 1024

/** Tests run from source, but use the built thread, which loads Prism in half the time. */
const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/prism-worker.js' : './prism-worker.js',
  import.meta.url,
)

/** The thread did not respond in time, or ended. */
class ThreadError extends Error {}

/**
 * In threads, because contracts and requests can make Prism loop or exhaust memory. An operation that made a thread fail
 * has the second one until it responds, so that other operations do not wait for it.
 */
export function openPrismThread(contract: Contract, timeout = TIMEOUT_MS): ClosableEngine {
  const [usual, slow] = [openThread(contract, timeout), openThread(contract, timeout)]
  const failed = new Set<string>()
  return {
    async mock(request) {
      const route = contract.route(request.method, request.path)
      const operation = route.kind === 'operation' ? route.operation.id : ''
      try {
        const response =
          (await usual.mock(request, () => failed.has(operation))) ?? (await slow.mock(request, () => false))
        failed.delete(operation)
        return response as EngineResponse | EngineRefusal
      } catch (error) {
        if (error instanceof ThreadError) failed.add(operation)
        throw error
      }
    },
    async close() {
      await Promise.all([usual.close(), slow.close()])
    },
  }
}

/** Starts with the first request. After a timeout it is terminated, and the next request starts another thread. */
function openThread(contract: Contract, timeout: number) {
  let worker: Promise<Worker> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  function forget(): void {
    worker = undefined
  }

  async function start(): Promise<Worker> {
    const started = new Worker(PROGRAM, {
      workerData: await contract.text('json'),
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
      stdout: true,
      stderr: true,
    })
    // Prism logs warnings about contracts to the console.
    started.stdout.resume()
    started.stderr.resume()
    // If it fails while idle, the next request starts another one.
    started.on('error', forget).on('exit', forget)
    await nextMessage(started, LOAD_TIMEOUT_MS)
    return started
  }

  /** The next message. The thread keeps the process alive only during a request. */
  function nextMessage(from: Worker, limit: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(new Error(`it took longer than ${limit / 1000} s`)), limit)
      function done(): void {
        clearTimeout(timer)
        from.off('message', listen).off('error', fail).off('exit', exit).unref()
      }
      function fail(error: Error): void {
        done()
        forget()
        void from.terminate()
        reject(new ThreadError(error.message))
      }
      const exit = () => fail(new Error('it was stopped'))
      function listen(message: ThreadMessage): void {
        done()
        if ('failure' in message) reject(new Error(message.failure))
        else resolve(message.result)
      }
      from.ref()
      from.on('message', listen).on('error', fail).on('exit', exit)
    })
  }

  /** One at a time, so that each has its whole timeout. @returns undefined if it is skipped when its turn comes */
  function mock(request: EngineRequest, isSkipped: () => boolean): Promise<unknown> {
    if (isSkipped()) return Promise.resolve(undefined)
    const response = turn.then(async () => {
      if (isSkipped()) return undefined
      if (worker === undefined) {
        worker = start()
        worker.catch(forget)
      }
      const open = await worker
      open.postMessage(request)
      return nextMessage(open, timeout)
    })
    turn = response.catch(() => {})
    return response
  }

  return {
    mock,
    async close() {
      const open = await worker?.catch(() => undefined)
      await open?.terminate()
    },
  }
}
