import { join } from 'node:path'
import { runToEnd } from '../child.js'
import { benchDirectory } from '../directories.js'
import { CONNECTIONS, type Load } from './load.js'

/** @see Load */
export const wrk: Load = async ({ urls, key }, operation, seconds) => {
  const stdout = await runToEnd('wrk', [
    ...['--threads', '1', '--connections', String(CONNECTIONS), '--duration', `${seconds}s`],
    ...['--header', `Authorization: Bearer ${key}`],
    ...(operation === 'createPet' ? ['--script', join(benchDirectory, 'load/create-pet.lua')] : []),
    urls[operation],
  ])
  if (/Non-2xx|Socket errors: (?!connect 0, read 0, write 0)/.test(stdout))
    throw new Error(`${operation} at ${urls[operation]} failed:\n${stdout}`)
  return { requests: figure(stdout, /(\d+) requests in/), perSecond: figure(stdout, /Requests\/sec:\s+([\d.]+)/) }
}

function figure(text: string, pattern: RegExp): number {
  const found = Number(pattern.exec(text)?.[1])
  if (Number.isNaN(found)) throw new Error(`wrk said something else than expected:\n${text}`)
  return found
}
