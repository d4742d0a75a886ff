import { join } from 'node:path'
import { plainEnvironment, runToEnd } from '../child.js'
import { API_KEY, type Contestant } from '../contestants/contestant.js'
import { benchDirectory, command, newFolder } from '../directories.js'
import { say } from '../progress.js'

/** Milliseconds of the whole command, a figure each round, in turn. */
export interface CallTimes {
  readonly call: readonly number[]
  readonly script: readonly number[]
}

/** `call listPets` beside a script with one fetch. */
export async function callTimes(contestant: Contestant, rounds: number): Promise<CallTimes> {
  say('call listPets, and a script with one fetch')
  const running = await contestant.start()
  const baseUrl = running.urls.listPets.replace(/\/pets$/, '')
  const cwd = newFolder()
  const call: number[] = []
  const script: number[] = []
  try {
    for (let round = -1; round < rounds; round++) {
      const scriptMs = await run([join(benchDirectory, 'measures/fetch-script.mjs'), running.urls.listPets], cwd)
      const callMs = await run([command, 'call', 'listPets', '--base-url', baseUrl], cwd)
      if (round < 0) continue
      script.push(scriptMs)
      call.push(callMs)
    }
  } finally {
    await running.stop()
  }
  return { call, script }
}

async function run(args: readonly string[], cwd: string): Promise<number> {
  const begun = performance.now()
  await runToEnd(process.execPath, args, { cwd, env: { ...plainEnvironment(), PETSTORE_API_KEY: API_KEY } })
  return performance.now() - begun
}
