import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageDirectory } from '../../src/system/package-files.js'

/** A running `petstore-sandbox serve` process. */
export interface SpawnedServe {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly child: ChildProcess
  /** Lines of stderr. */
  readonly lines: readonly string[]
  /** Resolves with the exit code; null after a signal. */
  readonly ended: Promise<number | null>
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Spawns the built command on a free port. @throws Error with its output if it exits before it is ready */
export async function spawnServe(cwd: string, ...flags: readonly string[]): Promise<SpawnedServe> {
  const child = spawn(
    process.execPath,
    [join(packageDirectory, 'bin/petstore-sandbox.js'), 'serve', '--port', '0', '--log', 'json', ...flags],
    { cwd, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  if (child.stderr === null) throw new Error('the child has no stderr')
  const lines: string[] = []
  const ended: Promise<number | null> = once(child, 'exit').then(([code]) => code)
  const ready = new Promise<string>((resolve) => {
    createInterface(child.stderr as NodeJS.ReadableStream).on('line', (line) => {
      lines.push(line)
      if (line.includes('"event":"ready"')) resolve(line)
    })
  })
  const first = await Promise.race([ready, ended])
  if (typeof first !== 'string') throw new Error(`serve ended with ${first}: ${lines.join('\n')}`)
  const { baseUrl, controlUrl } = JSON.parse(first)
  return {
    baseUrl,
    controlUrl,
    child,
    lines,
    ended,
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}
