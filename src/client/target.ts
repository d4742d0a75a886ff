import { resolve } from 'node:path'
import { packagedContract } from '../contract/packaged-contract.js'
import { isLoopback, isSameOrigin, readBaseAddress, serviceAt, shownAddress } from '../domain/base-address.js'
import type { DurationMs } from '../domain/time.js'
import type { Environment } from '../system/this-process.js'
import { readKey, readKeyFile } from './api-key.js'
import { TargetError } from './errors.js'
import { locationProblem, readLocation } from './location.js'
import { LOCATOR } from './locator-file.js'
import { PRODUCTION, readTargetConfig, type TargetConfig, targetConfigFile } from './target-config.js'

export interface TargetChoice {
  readonly target?: string | undefined
  readonly baseUrl?: string | undefined
  /** `-` is stdin. */
  readonly apiKeyFile?: string | undefined
  readonly key?: string | undefined
}

interface TargetContext {
  /** Path of a sandbox whose base address is unknown. */
  readonly basePath?: string
  readonly env: Environment
  readonly cwd: string
  /** How long a sandbox may take to confirm its locator. */
  readonly limit?: DurationMs
  readStdin(): Promise<string>
}

/** A value, and the flag, variable or file that it comes from; or `default`. */
interface Sourced {
  readonly value: string
  readonly source: string
}

export interface Target {
  /** `custom` if the address belongs to no known target. */
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly isProduction: boolean
  readonly sources: { readonly baseUrl: string; readonly apiKey: string | undefined }
  readonly warnings: readonly string[]
}

export interface KnownTarget {
  readonly name: string
  readonly baseUrl?: Sourced
  readonly keyFile?: string
  readonly warning?: string
}

export const SANDBOX = 'sandbox'
const BUILT_IN: readonly string[] = [SANDBOX, 'staging', PRODUCTION]
const API_KEY_VARIABLE = 'PETSTORE_API_KEY'
const URL_VARIABLE = 'PETSTORE_SANDBOX_URL'
const DEFAULT_ORIGIN = 'http://127.0.0.1:4010'
/** The key that every sandbox has. It is not a secret. */
export const SANDBOX_KEY = 'sandbox'
export const DEFAULT_SOURCE = 'default'
const UNNAMED = 'custom'

/**
 * A stored key is only sent to the origin of its target; a key from a flag or the environment goes wherever the call
 * goes. An address is matched to the target it belongs to, so that production stays production however it is named.
 *
 * @throws TargetError
 */
export async function resolveTarget(choice: TargetChoice, context: TargetContext): Promise<Target> {
  const config = await readTargetConfig(context.env)
  const known = await knownTargets(config, context)
  const named = choice.target ?? (choice.baseUrl === undefined ? (config.use ?? SANDBOX) : undefined)
  const asked = named === undefined ? undefined : findTarget(known, named)
  const given = choice.baseUrl === undefined ? undefined : checkedAddress(choice.baseUrl)
  const { value: baseUrl, source } = given ?? requireAddress(asked ?? findTarget(known, SANDBOX))

  const owner = findOwner(known, baseUrl)
  const target = asked ?? owner ?? { name: UNNAMED }
  const key = await findKey(choice, context, target, baseUrl)
  return {
    name: target.name,
    baseUrl,
    apiKey: key?.value,
    isProduction: target.name === PRODUCTION || owner?.name === PRODUCTION,
    sources: { baseUrl: source, apiKey: key?.source },
    warnings: [
      ...(given === undefined && target.warning !== undefined ? [target.warning] : []),
      ...(key === undefined ? [missingKey(target, baseUrl)] : unencrypted(baseUrl, key.value)),
      ...(choice.key !== undefined && !isLoopback(baseUrl) ? [VISIBLE_KEY] : []),
    ],
  }
}

const VISIBLE_KEY =
  'A key given with --key is visible in process lists and shell histories; use --api-key-file for a secret one.'

/**
 * The address of the sandbox to call: of the target `sandbox`, or any address of this machine.
 * @returns `isOwn`: whether it is the sandbox of the environment, of this folder or of the stored target, whose token is known
 */
export async function chosenSandbox(
  { target, baseUrl }: TargetChoice,
  context: Omit<TargetContext, 'readStdin'>,
): Promise<(Sourced & { readonly isOwn: boolean }) | undefined> {
  const config = await readTargetConfig(context.env)
  const known = await knownTargets(config, context)
  const name = target ?? config.use ?? SANDBOX
  const address = baseUrl === undefined ? findTarget(known, name).baseUrl : checkedAddress(baseUrl)
  if (address === undefined) return undefined
  if ((baseUrl !== undefined || name !== SANDBOX) && !isLoopback(address.value)) return undefined
  const own = findTarget(known, SANDBOX).baseUrl
  const isOwn = own !== undefined && own.source !== DEFAULT_SOURCE && isSameOrigin(own.value, address.value)
  return { ...address, isOwn }
}

export async function knownTargets(
  config: TargetConfig,
  { env, cwd, basePath = packagedContract().basePath, limit }: Omit<TargetContext, 'readStdin'>,
): Promise<readonly KnownTarget[]> {
  const file = targetConfigFile(env)
  const isKept = config.targets.get(SANDBOX)?.baseUrl !== undefined
  const sandbox = isKept ? {} : await findSandbox(env, cwd, basePath, limit)
  return [...new Set([...BUILT_IN, ...config.targets.keys()])].map((name) => {
    const { baseUrl, apiKeyFile } = config.targets.get(name) ?? {}
    return {
      name,
      ...(apiKeyFile === undefined ? {} : { keyFile: apiKeyFile }),
      ...(baseUrl === undefined ? {} : { baseUrl: { value: baseUrl, source: file } }),
      ...(name === SANDBOX ? sandbox : {}),
    }
  })
}

/**
 * By the control plane's address in the environment, the locator in the working directory, then the default port.
 * PETSTORE_BASE_URL alone does not count: applications are configured with it, and it may name production.
 */
async function findSandbox(
  env: Environment,
  cwd: string,
  basePath: string,
  limit: DurationMs | undefined,
): Promise<Pick<KnownTarget, 'baseUrl' | 'warning'>> {
  if (env[URL_VARIABLE]) {
    const { value: control } = checkedAddress(env[URL_VARIABLE], URL_VARIABLE)
    return { baseUrl: { value: serviceAt(control, env.PETSTORE_BASE_URL, basePath), source: URL_VARIABLE } }
  }
  const located = readLocation(cwd)
  const problem = located && (await locationProblem(located, limit))
  if (located !== undefined && problem === undefined) return { baseUrl: { value: located.baseUrl, source: LOCATOR } }
  return {
    baseUrl: { value: DEFAULT_ORIGIN + basePath, source: DEFAULT_SOURCE },
    ...(problem === undefined ? {} : { warning: `${LOCATOR} ${problem}; it is ignored.` }),
  }
}

export function findTarget(known: readonly KnownTarget[], name: string): KnownTarget {
  const found = known.find((target) => target.name === name)
  if (found !== undefined) return found
  const names = known.map((target) => target.name).join(', ')
  throw new TargetError(
    'UNKNOWN_TARGET',
    `Unknown target ${JSON.stringify(name)}. The targets are ${names}; add others with "npx petstore-sandbox target set".`,
  )
}

/** The target an address belongs to: an equal address before an equal origin, production before others. */
export function findOwner(known: readonly KnownTarget[], baseUrl: string): KnownTarget | undefined {
  const near = known.filter((target) => target.baseUrl !== undefined && isSameOrigin(target.baseUrl.value, baseUrl))
  const exact = near.filter((target) => target.baseUrl?.value === baseUrl)
  const candidates = exact.length > 0 ? exact : near
  return candidates.find(({ name }) => name === PRODUCTION) ?? candidates[0]
}

export async function storedKey(target: KnownTarget, env: Environment): Promise<Sourced | undefined> {
  const fromEnv = env[API_KEY_VARIABLE]
  if (fromEnv) return { value: readKey(fromEnv, API_KEY_VARIABLE), source: API_KEY_VARIABLE }
  const { keyFile } = target
  if (keyFile !== undefined) {
    const where = `Key file ${JSON.stringify(keyFile)} of the target ${JSON.stringify(target.name)}`
    return { value: await readKeyFile(keyFile, where), source: keyFile }
  }
  return target.name === SANDBOX ? { value: SANDBOX_KEY, source: DEFAULT_SOURCE } : undefined
}

async function findKey(
  { apiKeyFile, key }: TargetChoice,
  { env, cwd, readStdin }: TargetContext,
  target: KnownTarget,
  baseUrl: string,
): Promise<Sourced | undefined> {
  const source = '--api-key-file'
  if (key !== undefined) {
    if (apiKeyFile === undefined) return { value: readKey(key, '--key'), source: '--key' }
    throw new TargetError('INVALID_TARGET', `--key and ${source} cannot both be given`)
  }
  if (apiKeyFile === '-') return { value: readKey(await readStdin(), `${source} -`), source }
  if (apiKeyFile !== undefined) {
    const where = `${source} ${JSON.stringify(apiKeyFile)}`
    return { value: await readKeyFile(resolve(cwd, apiKeyFile), where), source }
  }
  const isItsOwn = target.baseUrl !== undefined && isSameOrigin(target.baseUrl.value, baseUrl)
  return storedKey(isItsOwn ? target : { name: UNNAMED }, env)
}

/** @param source the flag or variable that it was given in @throws TargetError INVALID_TARGET */
export function checkedAddress(text: string, source = '--base-url'): Sourced {
  const read = readBaseAddress(text)
  if ('value' in read) return { ...read, source }
  throw new TargetError('INVALID_TARGET', `${source} ${shownAddress(text)}: ${read.problem}`)
}

export function requireAddress({ name, baseUrl }: KnownTarget): Sourced {
  if (baseUrl !== undefined) return baseUrl
  throw new TargetError(
    'TARGET_NOT_SET',
    `The target ${JSON.stringify(name)} has no base address yet. Set it with "npx petstore-sandbox target set ${name} --base-url <url>".`,
  )
}

function missingKey({ name, baseUrl: own }: KnownTarget, baseUrl: string): string {
  const { origin } = new URL(baseUrl)
  const reason =
    own === undefined || isSameOrigin(own.value, baseUrl)
      ? 'none was given'
      : `none was given, and the key of the target ${JSON.stringify(name)} is for ${new URL(own.value).origin} only`
  return `No API key is sent to ${origin}: ${reason}. Give one with --api-key-file or in ${API_KEY_VARIABLE}.`
}

function unencrypted(baseUrl: string, key: string): readonly string[] {
  if (baseUrl.startsWith('https:') || isLoopback(baseUrl) || key === SANDBOX_KEY) return []
  return [`The API key is sent unencrypted to ${new URL(baseUrl).origin}.`]
}
