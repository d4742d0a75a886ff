import { isSecretName } from '../domain/redaction.js'
import type { TrafficRecord } from './traffic-record.js'

export interface NamedKey {
  readonly name: string
  readonly label: string
  readonly isHidden: boolean
}

const ONE_KEY = 'one'
export const MAX_KEYS = 10_000

const FURTHER: NamedKey = { name: '\n', label: '(further)', isHidden: true }
const NONE: NamedKey = { name: 'none', label: '(none)', isHidden: false }
/** The sandbox's own keys are public. @source docs/behaviour.md, "Keys" */
const FIXTURE_KEY = /^sandbox(?:-[a-z]+)?(?:~[A-Za-z0-9._-]{1,64})?$/

/** Names the keys of some traffic. A key that may be a secret gets a number, in order of appearance. */
export class KeyNames {
  readonly #field: string | undefined
  readonly #hidden = new Map<string, NamedKey>()

  /** @param field header or query parameter that tells keys apart, or `one`; undefined for what the form has */
  constructor(field: string | undefined) {
    this.#field = field
  }

  of({ own, user, headers, query }: TrafficRecord): NamedKey {
    const field = this.#field
    if (field === ONE_KEY) return shown('all')
    if (field !== undefined) {
      const value = headers?.[field.toLowerCase()] ?? (query.includes(field) && new URLSearchParams(query).get(field))
      if (!value) return NONE
      return isSecretName(field) ? this.#numbered(value) : shown(value)
    }
    if (own !== undefined) return shown(own.space === '' ? own.key : `${own.key}~${own.space}`)
    if (user !== undefined) return shown(user)
    return headers?.authorization === undefined ? NONE : this.#numbered(headers.authorization)
  }

  #numbered(value: string): NamedKey {
    const secret = value.replace(/^bearer +/i, '').trim()
    if (FIXTURE_KEY.test(secret)) return shown(secret)
    const known = this.#hidden.get(secret)
    if (known !== undefined) return known
    if (this.#hidden.size >= MAX_KEYS) return FURTHER
    const label = `key ${this.#hidden.size + 1}`
    const named = { name: `\n${label}`, label, isHidden: true }
    this.#hidden.set(secret, named)
    return named
  }
}

function shown(label: string): NamedKey {
  return { name: label, label, isHidden: false }
}
