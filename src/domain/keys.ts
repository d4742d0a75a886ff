import type { BanRecord, EarlyRequest } from './ban.js'
import type { Limits, QuotaUsage } from './quota.js'

/** Fixed conditions of fixture keys: a test chooses one by the key alone. */
export const KEY_CONDITIONS = ['limited', 'banned', 'revoked'] as const
type KeyCondition = (typeof KEY_CONDITIONS)[number]

/** A known API key. The plan of the key `sandbox` is a setting. */
export interface ApiKey {
  readonly key: string
  /** Shown in place of the key. A key without a label is not secret. */
  readonly label?: string
  /** Default: that of the contract, also for a plan that the contract does not have. */
  readonly plan?: string
  readonly always?: KeyCondition
}

/** Names a key in logs, reports, snapshots and the control plane. */
export function keyLabel({ key, label = key }: ApiKey): string {
  return label
}

/** Its plan and limits are settings. */
export const DEFAULT_KEY = 'sandbox'

/** Keys of the fixtures that are refused for ever. @source docs/behaviour.md, "Keys" */
export const ALWAYS_REFUSED: readonly string[] = ['sandbox-limited', 'sandbox-banned']

/** Quota usage and bans of a key, or of an address without one. */
export interface Account {
  readonly usage: QuotaUsage
  readonly bans: BanRecord
  readonly early: readonly EarlyRequest[]
}

export interface AccountId {
  readonly kind: 'key' | 'stranger'
  /** The key, an address, or the digest of an unknown token. */
  readonly name: string
}

/** Where a request names its space: in its key, or else in its baggage. */
export const SPACE_SOURCES = ['key', 'baggage'] as const
export type SpaceSource = (typeof SPACE_SOURCES)[number]

export type KeyProblem = 'missing_api_key' | 'invalid_api_key' | 'ended_login'

export type Caller =
  | {
      readonly kind: 'key'
      readonly label: string
      readonly apiKey: ApiKey
      /** Unique: the label, or a digest of an unknown token. */
      readonly name: string
      /** The token is unknown (--any-key); such callers share a label. */
      readonly isStranger: boolean
      /** Name of the client among those that share the key, or empty. */
      readonly sender: string
      readonly isPublic: boolean
      /** The number of its login, if its token is of one. */
      readonly login?: number
      readonly account: AccountId
      readonly limits: Limits
    }
  | {
      readonly kind: 'address'
      readonly label: string
      readonly isPublic: false
      readonly problem: KeyProblem
      readonly account: AccountId
      readonly limits: Limits
    }

export type KeyCaller = Caller & { readonly kind: 'key' }

/** A name of a group, or the label of a key. */
export const NAME = /^[A-Za-z0-9._-]{1,64}$/
export const NAME_FORM = '1 to 64 of A-Z a-z 0-9 . _ -'

/** Not `.` or `..`, which every client resolves in URLs. */
const SPACE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/

/** Also for sender names. */
export function isSpaceName(name: string): boolean {
  return SPACE_NAME.test(name)
}

/** `sandbox-pro~checkout+w3`. */
export function sentKeyText(key: string, space: string, sender = ''): string {
  return space === '' && sender === '' ? key : `${key}~${space}${sender === '' ? '' : `+${sender}`}`
}

/** The client of requests that people send from a page of the sandbox, or again. */
export const OWN_CLIENT = 'you'

/** A logged key as its client sent it. */
export function loggedKeyText({ key, sender }: { readonly key: string; readonly sender?: string | undefined }): string {
  return sentKeyText(key, '', sender === OWN_CLIENT ? '' : sender)
}

/** `sandbox-pro~checkout+w3`: the key `sandbox-pro` in the space `checkout`, sent by `w3`. */
export interface SentKey {
  /** Empty if invalid. */
  readonly token: string
  /** Empty for the default space. */
  readonly space: string
  readonly sender: string
}

const SPACE_MARK = '~'

/** The default space in a path, where a name cannot be empty. */
export const DEFAULT_SPACE = SPACE_MARK

const SENDER_MARK = '+'

export const NO_KEY: SentKey = { token: '', space: '', sender: '' }

/** Undefined without a bearer token. @source RFC 6750, section 2.1; RFC 9110, section 11.1: the scheme is case-insensitive */
export function readAuthorization(header: string | undefined): SentKey | undefined {
  if (header === undefined) return undefined
  const token = bearerToken(header.trim())
  if (token === '') return undefined
  const mark = token.indexOf(SPACE_MARK)
  if (mark === -1) return { token, space: '', sender: '' }
  const [space = '', sender, ...rest] = token.slice(mark + 1).split(SENDER_MARK)
  if (rest.length > 0 || (sender !== undefined && !isSpaceName(sender))) return NO_KEY
  if (!isSpaceName(space) && !(space === '' && sender !== undefined)) return NO_KEY
  return { token: token.slice(0, mark), space, sender: sender ?? '' }
}

/** Splits a key as clients send it, without checking the names. */
export function splitKey(sent: string): { readonly key: string; readonly space: string } {
  const [key = '', place = ''] = sent.split(/~(.*)/s)
  const [space = ''] = place.split(SENDER_MARK)
  return { key, space }
}

/** Whether what follows the key is not the name of a space or sender. */
export function hasInvalidName(authorization: unknown): boolean {
  return typeof authorization === 'string' && readAuthorization(authorization) === NO_KEY
}

/** The secrets that a value of Authorization may contain: its credentials, whole and without a space, plain and encoded. */
export function sentTokens(authorization: unknown): readonly string[] {
  const credentials = String(authorization ?? '')
    .trim()
    .replace(/^\S+ +/, '')
  const [token = ''] = credentials.split(SPACE_MARK)
  return [credentials, token].flatMap((text) => [text, encodeURIComponent(text)])
}

/** Fast path for the usual form. */
const USUAL_START = 'Bearer '

function bearerToken(header: string): string {
  if (header.startsWith(USUAL_START) && header[USUAL_START.length] !== ' ') return header.slice(USUAL_START.length)
  const [, token = ''] = /^bearer(?: +(.*))?$/i.exec(header) ?? []
  return token
}
