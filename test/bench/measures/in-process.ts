import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageDirectory } from '../../../src/system/package-files.js'
import { say } from '../progress.js'

/** Milliseconds, a figure each round. */
export interface InProcess {
  readonly start: readonly number[]
  readonly reset: readonly number[]
  /** Of a space that has not been used before, over a socket. */
  readonly newSpace: readonly number[]
}

const WARM_UP_ROUNDS = 20

/** What a test suite waits for: the built library, warm, in this process. */
export async function inProcess(rounds: number): Promise<InProcess> {
  say('in process')
  const built = pathToFileURL(join(packageDirectory, 'dist/index.js')).href
  const { startSandbox } = (await import(built)) as typeof import('../../../src/index.js')
  const start: number[] = []
  const reset: number[] = []
  const newSpace: number[] = []
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const keep = (figures: number[], ms: number) => round >= 0 && figures.push(ms)
    const begun = performance.now()
    await using sandbox = await startSandbox()
    keep(start, performance.now() - begun)
    const listPets = async (key: string) => {
      const answer = await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } })
      await answer.arrayBuffer()
    }
    // The connection is there already when the next test begins.
    await listPets(sandbox.key())
    keep(reset, await milliseconds(() => sandbox.reset()))
    keep(newSpace, await milliseconds(() => listPets(sandbox.space(`round-${round}`).key())))
  }
  return { start, reset, newSpace }
}

async function milliseconds(act: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}
