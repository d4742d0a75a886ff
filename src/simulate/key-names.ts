import { isSecretName } from '../domain/redaction.js'
import type { TrafficRecord } from './traffic-record.js'

/** Whose request it is, and how that is shown. */
export interface NamedKey {
  readonly name: string
  readonly label: string
  /** The label stands for what may not be shown. */
  readonly isHidden: boolean
}

/** What tells one key from another: all are one, or a header or query parameter of this name; undefined for what the form has. */
export type KeyField = string | undefined

/** The field that makes all requests those of one key. */
const ONE_KEY = 'one'

const ALL: NamedKey = { name: 'all', label: 'all', isHidden: false }
/** Nobody simulates more keys: what is kept of each is bounded, but not nothing. */
export const MOST_KEYS = 10_000
const FURTHER: NamedKey = { name: '\n', label: '(further)', isHidden: true }
const NONE: NamedKey = { name: 'none', label: '(none)', isHidden: false }
/** Keys that come with the sandbox are no secrets. @source docs/behaviour.md, "Keys" */
const FIXTURE_KEY = /^sandbox(?:-[a-z]+)?(?:~[A-Za-z0-9._-]{1,64})?$/

/** Names the keys of some traffic. One that may be a secret gets a number, in the order in which they come. */
export class KeyNames {
  readonly #field: KeyField
  readonly #hidden = new Map<string, NamedKey>()

  constructor(field: KeyField) {
    this.#field = field
  }

  of(record: TrafficRecord): NamedKey {
    if (this.#field === ONE_KEY) return ALL
    if (this.#field === undefined) return this.#usual(record)
    const value = record.headers?.[this.#field.toLowerCase()] ?? parameter(record.query, this.#field)
    if (value === undefined || value === '') return NONE
    return isSecretName(this.#field) ? this.#numbered(withoutScheme(value)) : open(value)
  }

  #usual({ own, user, headers }: TrafficRecord): NamedKey {
    if (own !== undefined) return open(own.space === '' ? own.key : `${own.key}~${own.space}`)
    if (user !== undefined) return open(user)
    const sent = headers?.authorization
    return sent === undefined ? NONE : this.#numbered(withoutScheme(sent))
  }

  #numbered(secret: string): NamedKey {
    if (FIXTURE_KEY.test(secret)) return open(secret)
    const known = this.#hidden.get(secret)
    if (known !== undefined) return known
    if (this.#hidden.size >= MOST_KEYS) return FURTHER
    const label = `key ${this.#hidden.size + 1}`
    const named = { name: `\n${label}`, label, isHidden: true }
    this.#hidden.set(secret, named)
    return named
  }
}

function open(label: string): NamedKey {
  return { name: label, label, isHidden: false }
}

function withoutScheme(value: string): string {
  return value.replace(/^bearer +/i, '').trim()
}

function parameter(query: string, name: string): string | undefined {
  if (!query.includes(name)) return undefined
  return new URLSearchParams(query).get(name) ?? undefined
}
