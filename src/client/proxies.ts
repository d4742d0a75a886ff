import type { Environment } from '../system/environment.js'
import { isLoopback, shownAddress } from './base-address.js'
import { TargetError } from './target-error.js'

/** A proxy that an address is asked through. */
export interface Proxy {
  /** With the user and password that it may have been given. */
  readonly url: URL
  /** The variable that names it: this is told, the address never is. */
  readonly variable: string
}

/**
 * Finds the proxy of the environment for an address, variables in lower case first. One without a
 * scheme is an HTTP proxy, as it is to curl. What is on this machine is never asked through one.
 *
 * @throws TargetError INVALID_TARGET that names the variable, if the address would be asked through what is no proxy
 */
export function proxyFor(baseUrl: string, env: Environment): Proxy | undefined {
  if (isLoopback(baseUrl) || isExcepted(new URL(baseUrl), env.no_proxy ?? env.NO_PROXY ?? '')) return undefined
  const ofHttp = named(env, 'http_proxy', 'HTTP_PROXY')
  const ofHttps = named(env, 'https_proxy', 'HTTPS_PROXY')
  const asked = baseUrl.startsWith('https:') ? (ofHttps ?? ofHttp) : ofHttp
  return asked === undefined ? undefined : { url: readProxy(asked), variable: asked.name }
}

/** The status with which a proxy refused to ask for anything, of what undici throws then: it has no code. */
export function proxyRefusal(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : ''
  return /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(text)?.[1]
}

/** A host of the list stands for those below it, too; with a port, only for that. `*` stands for all. */
function isExcepted({ protocol, hostname, port }: URL, list: string): boolean {
  const asked = port === '' ? { 'http:': '80', 'https:': '443' }[protocol] : port
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    const [, host = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    return host !== '' && (only ?? asked) === asked && (hostname === host || hostname.endsWith(`.${host}`))
  })
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

function readProxy({ name, text }: Named): URL {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  try {
    const url = new URL(written)
    if (/^(?:https?|socks5?):$/.test(url.protocol)) return url
  } catch {
    // Told below.
  }
  const form = 'must be the address of a proxy, such as http://proxy.example:3128'
  throw new TargetError('INVALID_TARGET', `${name} ${shownAddress(written)}: ${form}`)
}
