import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { NEW_PET, type Operation, type Running } from './contestants.js'
import { benchDirectory, runToEnd } from './tools.js'

const CONNECTIONS = 32

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
}

/** 32 connections, each of which sends its next request after a response. Rejects if a response was not 2xx. */
export type Load = (running: Running, operation: Operation, seconds: number) => Promise<LoadResult>

/** wrk if it is installed, because it takes less of the machine. */
export function chooseLoad(): { readonly name: string; readonly load: Load } {
  // `wrk --version` exits with 1.
  const hasWrk = spawnSync('wrk', ['--version']).error === undefined
  return hasWrk ? { name: 'wrk', load: wrk } : { name: 'autocannon', load: autocannon }
}

const wrk: Load = async ({ urls, key }, operation, seconds) => {
  const stdout = await runToEnd('wrk', [
    ...['--threads', '1', '--connections', String(CONNECTIONS), '--duration', `${seconds}s`],
    ...['--header', `Authorization: Bearer ${key}`],
    ...(operation === 'createPet' ? ['--script', join(benchDirectory, 'load/create-pet.lua')] : []),
    urls[operation],
  ])
  if (/Non-2xx|Socket errors: (?!connect 0, read 0, write 0)/.test(stdout))
    throw new Error(`${operation} at ${urls[operation]} failed:\n${stdout}`)
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? []
  const [, perSecond] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? []
  if (requests === undefined || perSecond === undefined) throw new Error(`unknown output of wrk:\n${stdout}`)
  return { requests: Number(requests), perSecond: Number(perSecond) }
}

const autocannon: Load = async (running, operation, seconds) => {
  const { requests, duration } = await fire(running, operation, ['--duration', String(seconds)])
  return { requests: requests.total, perSecond: requests.total / duration }
}

/** Sends a number of requests, however long they take. @returns how many were sent */
export async function sendExactly(requests: number, running: Running, operation: Operation): Promise<number> {
  return (await fire(running, operation, ['--amount', String(requests)])).requests.total
}

/** @returns milliseconds at a fixed rate of listPets; a request that waits for a connection counts with its wait */
export async function latencies(
  running: Running,
  perSecond: number,
  seconds: number,
): Promise<{ readonly p50: number; readonly p99: number }> {
  const { latency } = await fire(running, 'listPets', [
    ...['--overallRate', String(perSecond), '--duration', String(seconds)],
  ])
  return latency
}

interface AutocannonResult {
  readonly requests: { readonly total: number }
  readonly duration: number
  readonly latency: { readonly p50: number; readonly p99: number }
  readonly non2xx: number
  readonly errors: number
}

async function fire(running: Running, operation: Operation, flags: readonly string[]): Promise<AutocannonResult> {
  const stdout = await runToEnd(process.execPath, [
    join(benchDirectory, 'node_modules/autocannon/autocannon.js'),
    ...['--json', '--no-progress', '--connections', String(CONNECTIONS)],
    ...['--headers', `Authorization=Bearer ${running.key}`],
    ...(operation === 'createPet'
      ? ['--method', 'POST', '--headers', 'Content-Type=application/json', '--body', NEW_PET]
      : []),
    ...flags,
    running.urls[operation],
  ])
  const result: AutocannonResult = JSON.parse(stdout)
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${operation} at ${running.urls[operation]} failed:\n${stdout}`)
  return result
}
