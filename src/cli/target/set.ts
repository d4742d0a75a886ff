import { resolve } from 'node:path'
import { readKeyFile } from '../../client/api-key.js'
import { isSameOrigin, readBaseAddress, shownAddress } from '../../client/base-address.js'
import { SANDBOX } from '../../client/target.js'
import { changeTargetConfig, type KeptTarget, problemOfName, readTargetConfig } from '../../client/target-config.js'
import { TargetError } from '../../client/target-error.js'
import { printResult } from '../control/result.js'
import type { CliIo } from '../io.js'
import { say } from '../print.js'

export interface SetFlags {
  readonly baseUrl?: string
  readonly apiKeyFile?: string
}

/** Stores where a target is. Omitted values stay, except a key file when the target moves to another origin. */
export async function setTarget(name: string, flags: SetFlags, io: CliIo, json: boolean): Promise<void> {
  const problem = problemOfName(name)
  if (problem !== undefined) throw invalid(`Target ${JSON.stringify(name)}: ${problem}`)
  if (flags.apiKeyFile === '-' || flags.apiKeyFile === '') {
    throw invalid('--api-key-file: must be a permanent file, since the key itself is not stored')
  }
  const before = (await readTargetConfig(io.env)).targets.get(name) ?? {}
  const after = changed(name, before, flags, io.cwd)
  await changeTargetConfig(io.env, { target: { name, kept: after } })

  const { baseUrl, apiKeyFile } = after
  const value = { name, baseUrl: baseUrl ?? null, apiKeyFile: apiKeyFile ?? null }
  await printResult({ value, text: `${name}: ${baseUrl ?? 'the running sandbox'}` }, io, json)
  const note = (text: string) => say(io.stderr, `note: ${text}`)
  if (apiKeyFile !== undefined) {
    const where = `--api-key-file ${JSON.stringify(apiKeyFile)}`
    await readKeyFile(apiKeyFile, where).catch((error: Error) => note(`${error.message}.`))
  } else if (before.apiKeyFile !== undefined) {
    note(`Its key file ${JSON.stringify(before.apiKeyFile)} was for another origin and has been dropped.`)
  }
}

function changed(name: string, before: KeptTarget, flags: SetFlags, cwd: string): KeptTarget {
  if (flags.baseUrl === undefined && flags.apiKeyFile === undefined) {
    throw invalid('--base-url or --api-key-file is needed: there is nothing to set')
  }
  const baseUrl = flags.baseUrl === undefined ? before.baseUrl : checkedAddress(flags.baseUrl)
  if (baseUrl === undefined && name !== SANDBOX) {
    throw invalid(`--base-url is needed: the target ${JSON.stringify(name)} has no base address yet`)
  }
  const apiKeyFile = flags.apiKeyFile === undefined ? undefined : resolve(cwd, flags.apiKeyFile)
  const stays = flags.baseUrl === undefined || (before.baseUrl !== undefined && isSameOriginAs(before.baseUrl, baseUrl))
  const file = apiKeyFile ?? (stays ? before.apiKeyFile : undefined)
  return { ...(baseUrl === undefined ? {} : { baseUrl }), ...(file === undefined ? {} : { apiKeyFile: file }) }
}

function isSameOriginAs(before: string, now: string | undefined): boolean {
  return now !== undefined && isSameOrigin(before, now)
}

function checkedAddress(text: string): string {
  const read = readBaseAddress(text)
  if ('baseUrl' in read) return read.baseUrl
  throw invalid(`--base-url ${shownAddress(text)}: ${read.problem}`)
}

function invalid(message: string): TargetError {
  return new TargetError('INVALID_TARGET', message)
}
