import { createContext, Script } from 'node:vm'

const script = new Script('run()')
let context: { run: () => void } | undefined

/**
 * Runs synchronous code of the user, and ends it after a time, also an endless loop.
 * @param limit milliseconds
 * @returns whether it has ended by itself
 * @throws what the code throws
 */
export function runLimited(run: () => void, limit: number): boolean {
  // Functions of this program keep their own globals; the context only carries the call.
  context ??= createContext({ run }) as { run: () => void }
  context.run = run
  try {
    script.runInContext(context, { timeout: limit })
    return true
  } catch (error) {
    if (Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
}
