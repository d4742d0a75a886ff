import type { Environment } from '../system/environment.js'
import { isLoopback, shownAddress } from './base-address.js'
import { TargetError } from './target-error.js'

/** Proxies as undici takes them, and the variable that names the one for this address. */
export interface Proxies {
  /** Undefined where none is asked: what is on this machine is never sent through one. */
  readonly proxies?: { readonly httpProxy: string; readonly httpsProxy: string; readonly noProxy: string }
  readonly variable?: string
}

/**
 * Reads the proxies of the environment, those in lower case first. One without a
 * scheme is an HTTP proxy, as it is to curl.
 *
 * @throws TargetError INVALID_TARGET that names the variable, if the address would be asked through what is no proxy
 */
export function readProxies(baseUrl: string, env: Environment): Proxies {
  if (isLoopback(baseUrl)) return {}
  const noProxy = (env.no_proxy ?? env.NO_PROXY ?? '').trim()
  if (noProxy === '*') return {}
  const ofHttp = named(env, 'http_proxy', 'HTTP_PROXY')
  const ofHttps = named(env, 'https_proxy', 'HTTPS_PROXY')
  const asked = baseUrl.startsWith('https:') ? (ofHttps ?? ofHttp) : ofHttp
  if (asked === undefined) return {}
  const address = readProxy(asked)
  return { proxies: { httpProxy: address, httpsProxy: address, noProxy }, variable: asked.name }
}

interface Named {
  readonly name: string
  readonly text: string
}

function named(env: Environment, ...names: readonly string[]): Named | undefined {
  const name = names.find((one) => env[one] !== undefined)
  const text = name === undefined ? undefined : env[name]?.trim()
  return name === undefined || text === undefined || text === '' ? undefined : { name, text }
}

function readProxy({ name, text }: Named): string {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  try {
    const { protocol, href } = new URL(written)
    if (/^(?:https?|socks5?):$/.test(protocol)) return href
  } catch {
    // Told below.
  }
  const form = 'must be the address of a proxy, such as http://proxy.example:3128'
  throw new TargetError('INVALID_TARGET', `${name} ${shownAddress(written)}: ${form}`)
}
