import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Captured } from './test-io.js'

export const BIN = join(packageDirectory, 'bin/petstore-sandbox.js')

interface Place {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Flags of Node itself. */
  readonly node?: readonly string[]
}

/** The built program in a process of its own, killed after the test. `ended` has its code, or its signal. */
export function start(argv: readonly string[], { cwd = temporaryFolder(), env = {}, node = [] }: Place = {}) {
  return startProgram(process.execPath, [...node, BIN, ...argv], { cwd, env: { PATH: process.env.PATH, ...env } })
}

export function startProgram(program: string, argv: readonly string[], place: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn(program, argv, place)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr] = [new Captured(), new Captured()]
  child.stdout.pipe(stdout)
  child.stderr.pipe(stderr)
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  return { child, cwd: place.cwd, stdout, stderr, ended }
}

/** Runs the built program to its end. */
export async function runBuilt(argv: readonly string[], place: Place = {}) {
  const { child, stdout, stderr, ended } = start(argv, place)
  child.stdin.end()
  return { code: await ended, out: stdout.text, err: stderr.text }
}

/** Whether a process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
