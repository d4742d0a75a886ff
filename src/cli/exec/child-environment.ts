import type { Environment } from '../../system/environment.js'
import { type EnvName, namedEnvironment } from './env-names.js'

/** What the command is told about its sandbox. */
export interface ToldSandbox {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly controlToken: string | undefined
  /** Variables that it gets under names of its own. */
  readonly names?: readonly EnvName[]
}

/** The key that the command gets: the one on `--plan`. */
const API_KEY = 'sandbox'
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/**
 * The environment of a command that is run against a sandbox: that of this process,
 * the sandbox's address in place of any other, and no proxy between the two.
 *
 * @source docs/cli.md, "exec"
 */
export function childEnvironment(
  env: Environment,
  { baseUrl, controlUrl, controlToken, names = [] }: ToldSandbox,
): Environment {
  const direct = [...new Set([...LOOPBACK, new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')])]
  return {
    ...env,
    PETSTORE_BASE_URL: baseUrl,
    PETSTORE_API_KEY: API_KEY,
    PETSTORE_SANDBOX_URL: controlUrl,
    ...(controlToken === undefined ? {} : { PETSTORE_SANDBOX_CONTROL_TOKEN: controlToken }),
    // Programs differ in which of the two they read, so each falls back to the other.
    NO_PROXY: withHosts(env.NO_PROXY || env.no_proxy, direct),
    no_proxy: withHosts(env.no_proxy || env.NO_PROXY, direct),
    ...namedEnvironment(names, { baseUrl, controlUrl, apiKey: API_KEY }),
  }
}

/** Adds hosts to a NO_PROXY list; `*` already covers all of them. */
function withHosts(list = '', hosts: readonly string[]): string {
  const known = list.split(/[\s,]+/).filter((host) => host !== '')
  return known.includes('*') ? list : [...known, ...hosts.filter((host) => !known.includes(host))].join(',')
}
