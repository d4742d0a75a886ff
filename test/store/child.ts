import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** Runs a file of this folder as a process, killed after the test. */
export function startChild(file: string, args: readonly string[] = []): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(path, args, { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

export async function messageOf(child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message')
  return message
}
