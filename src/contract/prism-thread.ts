import { Worker } from 'node:worker_threads'
import type { Contract } from './contract.js'
import type { ClosableEngine, EngineAnswer, EngineRefusal, EngineRequest } from './engine.js'
import type { Word } from './prism-worker.js'

/** A question that takes longer is one that may never end: a `pattern` can take years. */
const PATIENCE_MS = 5_000
/** Loading Prism takes a second, and a contract of megabytes some more. */
const LOAD_PATIENCE_MS = 60_000
/** Prism unfolds what refers to itself in many ways; it may fill so much, and no more. */
const MOST_MEMORY_MB = 1024

const BUILT = new URL('./prism-worker.js', import.meta.url)
const SOURCE = JSON.stringify(new URL('./prism-worker.ts', import.meta.url))
/** Where we run from our sources, as tests do, the thread does so, too; Node gives it no loader by itself. */
const [PROGRAM, IS_TEXT] = import.meta.url.endsWith('.ts')
  ? ([`import('tsx/esm/api').then(({ tsImport }) => tsImport(${SOURCE}, ${SOURCE}))`, true] as const)
  : ([BUILT, false] as const)

/**
 * Runs Prism in a thread of its own. What a contract or a request can make it do
 * (a pattern without end, gigabytes) costs that question its answer, and nobody else
 * their time: a thread that takes too long is ended, and the next question gets a new one.
 *
 * @param patience milliseconds that one question may take
 */
export function openPrismThread(contract: Contract, patience = PATIENCE_MS): ClosableEngine {
  let worker: Promise<Worker> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  function forget(): void {
    worker = undefined
  }

  async function start(): Promise<Worker> {
    const started = new Worker(PROGRAM, {
      eval: IS_TEXT,
      workerData: await contract.text('json'),
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
      stdout: true,
      stderr: true,
    })
    // Prism writes what it thinks of a contract to the console; nobody asked.
    started.stdout.resume()
    started.stderr.resume()
    // One that fails with nobody waiting is replaced by the next question.
    started.on('error', forget).on('exit', forget)
    await hear(started, LOAD_PATIENCE_MS)
    return started
  }

  /** The next word of a thread. It keeps the process alive only while somebody waits. */
  function hear(from: Worker, most: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(new Error(`it took longer than ${most / 1000} s`)), most)
      function done(): void {
        clearTimeout(timer)
        from.off('message', listen).off('error', fail).off('exit', exit).unref()
      }
      function fail(error: Error): void {
        done()
        forget()
        void from.terminate()
        reject(error)
      }
      const exit = () => fail(new Error('it was stopped'))
      function listen(word: Word): void {
        done()
        if ('failure' in word) reject(new Error(word.failure))
        else resolve(word.result)
      }
      from.ref()
      from.on('message', listen).on('error', fail).on('exit', exit)
    })
  }

  /** One after the other, so that each is given all its time. */
  function ask(question: EngineRequest): Promise<unknown> {
    const answer = turn.then(async () => {
      if (worker === undefined) {
        worker = start()
        worker.catch(forget)
      }
      const open = await worker
      open.postMessage(question)
      return hear(open, patience)
    })
    turn = answer.catch(() => {})
    return answer
  }

  return {
    mock: (request) => ask(request) as Promise<EngineAnswer | EngineRefusal>,
    async close() {
      const open = await worker?.catch(() => undefined)
      await open?.terminate()
    },
  }
}
