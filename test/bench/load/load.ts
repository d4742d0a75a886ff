import { execFileSync } from 'node:child_process'
import type { Operation, Running } from '../contestants/contestant.js'
import { autocannon } from './autocannon.js'
import { wrk } from './wrk.js'

/** What came of a load. */
export interface Yield {
  readonly requests: number
  readonly perSecond: number
}

/** 32 connections, each of which asks again as soon as it has its answer. Rejects if an answer was not 2xx. */
export type Load = (running: Running, operation: Operation, seconds: number) => Promise<Yield>

export const CONNECTIONS = 32

/** wrk where it is installed, since it takes less from the machine. */
export function chooseLoad(): { readonly name: string; readonly load: Load } {
  return hasWrk() ? { name: 'wrk', load: wrk } : { name: 'autocannon', load: autocannon }
}

function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // It says its version with an exit code of 1.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}
