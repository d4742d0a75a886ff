import { resolve } from 'node:path'
import type { Environment } from '../system/environment.js'
import { readKey, readKeyFile } from './api-key.js'
import { isLoopback, isSameOrigin, readBaseAddress, shownAddress } from './base-address.js'
import { findSandboxAddress } from './sandbox-address.js'
import { PRODUCTION, readTargetConfig, type TargetConfig, targetConfigFile } from './target-config.js'
import { TargetError } from './target-error.js'

/** The choice made on the command line. */
export interface TargetChoice {
  readonly target?: string | undefined
  readonly baseUrl?: string | undefined
  /** `-` is stdin. */
  readonly apiKeyFile?: string | undefined
}

export interface TargetContext {
  readonly env: Environment
  readonly cwd: string
  /** Called only if stdin was asked for. */
  readStdin(): Promise<string>
}

/** An instance of the service to talk to. */
export interface Target {
  /** `custom` if only an address was given that belongs to no known target. */
  readonly name: string
  /** With its path, without a slash at its end. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly isProduction: boolean
  /** Where each of them comes from: a flag, a variable, a file, `default`; the key's is undefined if there is none. */
  readonly sources: { readonly baseUrl: string; readonly apiKey: string | undefined }
  readonly warnings: readonly string[]
}

/** A target that can be named, even if it has no address yet. */
export interface KnownTarget {
  readonly name: string
  readonly baseUrl?: Sourced
  readonly keyFile?: string
  readonly warning?: string
}

export interface Sourced {
  readonly value: string
  readonly source: string
}

export const SANDBOX = 'sandbox'
/** Targets that always exist. */
const BUILT_IN: readonly string[] = [SANDBOX, 'staging', PRODUCTION]

const API_KEY_VARIABLE = 'PETSTORE_API_KEY'
/** The key that every sandbox has. It is not a secret. */
export const SANDBOX_KEY = 'sandbox'
/** Where a value comes from that nobody has given. */
export const DEFAULT_SOURCE = 'default'
const NAMELESS = 'custom'

/**
 * Decides where to send a request, and with which key.
 *
 * A key stored for a target goes to that target's origin only; one that was
 * given by flag or environment goes wherever the call goes. An address that was
 * given is matched to the target that it belongs to, so that production stays
 * production however it is named.
 *
 * @throws TargetError
 */
export async function resolveTarget(choice: TargetChoice, context: TargetContext): Promise<Target> {
  const config = await readTargetConfig(context.env)
  const known = await knownTargets(config, context)
  const named = choice.target ?? (choice.baseUrl === undefined ? (config.use ?? SANDBOX) : undefined)
  const asked = named === undefined ? undefined : findTarget(known, named)
  const given = choice.baseUrl === undefined ? undefined : givenAddress(choice.baseUrl)
  const { value: baseUrl, source } = given ?? addressOf(asked ?? findTarget(known, SANDBOX))

  const owner = ownerOf(known, baseUrl)
  const target = asked ?? owner ?? { name: NAMELESS }
  const key = await findKey(choice, context, target, baseUrl)
  return {
    name: target.name,
    baseUrl,
    apiKey: key?.value,
    isProduction: target.name === PRODUCTION || owner?.name === PRODUCTION,
    sources: { baseUrl: source, apiKey: key?.source },
    warnings: [
      ...(given === undefined && target.warning !== undefined ? [target.warning] : []),
      ...(key === undefined ? [withoutKey(target, baseUrl)] : inClear(baseUrl, key.value)),
    ],
  }
}

/** Every target that can be named, built-in ones first. */
export async function knownTargets(
  config: TargetConfig,
  { env, cwd }: Omit<TargetContext, 'readStdin'>,
): Promise<readonly KnownTarget[]> {
  const file = targetConfigFile(env)
  const isKept = config.targets.get(SANDBOX)?.baseUrl !== undefined
  const sandbox = isKept ? undefined : await findSandboxAddress(env, cwd)
  return [...new Set([...BUILT_IN, ...config.targets.keys()])].map((name) => {
    const { baseUrl, apiKeyFile } = config.targets.get(name) ?? {}
    const keyFile = apiKeyFile === undefined ? {} : { keyFile: apiKeyFile }
    if (baseUrl !== undefined) return { name, baseUrl: { value: baseUrl, source: file }, ...keyFile }
    if (name !== SANDBOX || sandbox === undefined) return { name, ...keyFile }
    const { warning, baseUrl: value, source } = sandbox
    return { name, baseUrl: { value, source }, ...keyFile, ...(warning === undefined ? {} : { warning }) }
  })
}

/** The target of a name. @throws TargetError UNKNOWN_TARGET */
export function findTarget(known: readonly KnownTarget[], name: string): KnownTarget {
  const found = known.find((target) => target.name === name)
  if (found !== undefined) return found
  const names = known.map((target) => target.name).join(', ')
  throw new TargetError(
    'UNKNOWN_TARGET',
    `There is no target ${JSON.stringify(name)}. The targets are ${names}; add others with "petstore-sandbox target set".`,
  )
}

/** The target an address belongs to: an equal address before an equal origin, production before others. */
export function ownerOf(known: readonly KnownTarget[], baseUrl: string): KnownTarget | undefined {
  const near = known.filter((target) => target.baseUrl !== undefined && isSameOrigin(target.baseUrl.value, baseUrl))
  const exact = near.filter((target) => target.baseUrl?.value === baseUrl)
  const candidates = exact.length > 0 ? exact : near
  return candidates.find(({ name }) => name === PRODUCTION) ?? candidates[0]
}

/** The key that a target would be sent if no flag named one; undefined if there is none. */
export async function storedKey(target: KnownTarget, env: Environment): Promise<Sourced | undefined> {
  const fromEnv = env[API_KEY_VARIABLE]
  if (fromEnv !== undefined && fromEnv !== '') {
    return { value: readKey(fromEnv, API_KEY_VARIABLE), source: API_KEY_VARIABLE }
  }
  const { keyFile } = target
  if (keyFile !== undefined) {
    const where = `Key file ${JSON.stringify(keyFile)} of the target ${JSON.stringify(target.name)}`
    return { value: await readKeyFile(keyFile, where), source: keyFile }
  }
  return target.name === SANDBOX ? { value: SANDBOX_KEY, source: DEFAULT_SOURCE } : undefined
}

async function findKey(
  { apiKeyFile }: TargetChoice,
  { env, cwd, readStdin }: TargetContext,
  target: KnownTarget,
  baseUrl: string,
): Promise<Sourced | undefined> {
  const source = '--api-key-file'
  if (apiKeyFile === '-') return { value: readKey(await readStdin(), `${source} -`), source }
  if (apiKeyFile !== undefined) {
    const where = `${source} ${JSON.stringify(apiKeyFile)}`
    return { value: await readKeyFile(resolve(cwd, apiKeyFile), where), source }
  }
  const isItsOwn = target.baseUrl !== undefined && isSameOrigin(target.baseUrl.value, baseUrl)
  return storedKey(isItsOwn ? target : { name: NAMELESS }, env)
}

function givenAddress(text: string): Sourced {
  const read = readBaseAddress(text)
  if ('baseUrl' in read) return { value: read.baseUrl, source: '--base-url' }
  throw new TargetError('INVALID_TARGET', `--base-url ${shownAddress(text)}: ${read.problem}`)
}

/** Where a target is. @throws TargetError TARGET_NOT_SET */
export function addressOf({ name, baseUrl }: KnownTarget): Sourced {
  if (baseUrl !== undefined) return baseUrl
  throw new TargetError(
    'TARGET_NOT_SET',
    `The target ${JSON.stringify(name)} has no base address yet. Set it with "petstore-sandbox target set ${name} --base-url <url>".`,
  )
}

function withoutKey({ name, baseUrl: own }: KnownTarget, baseUrl: string): string {
  const { origin } = new URL(baseUrl)
  const reason =
    own === undefined || isSameOrigin(own.value, baseUrl)
      ? 'none was given'
      : `none was given, and that of the target ${JSON.stringify(name)} is for ${new URL(own.value).origin} only`
  return `No API key is sent to ${origin}: ${reason}. Give one with --api-key-file or in ${API_KEY_VARIABLE}.`
}

function inClear(baseUrl: string, key: string): readonly string[] {
  if (baseUrl.startsWith('https:') || isLoopback(baseUrl) || key === SANDBOX_KEY) return []
  return [`The API key travels unencrypted to ${new URL(baseUrl).origin}.`]
}
