import type { BanRecord } from './ban.js'
import type { ApiKey } from './keys.js'
import type { Limits, QuotaUsage } from './quota.js'

/** Quota usage and bans of a key, or of an address without one. Only its space changes it. */
export interface Account {
  readonly usage: QuotaUsage
  readonly bans: BanRecord
}

/** Who sent a request: a valid key, or an address without one. */
export type Caller =
  | {
      readonly kind: 'key'
      /** How logs and reports name it. */
      readonly label: string
      readonly apiKey: ApiKey
      /** What tells it from all other keys: its label, or of a stranger a digest of its token. */
      readonly name: string
      /** The sandbox does not know its token (--any-key), and others share its label. */
      readonly isStranger: boolean
      /** What it sent may be shown as it is. */
      readonly isOpen: boolean
      readonly account: Account
      readonly limits: Limits
    }
  | {
      readonly kind: 'address'
      readonly label: string
      readonly isOpen: false
      readonly problem: 'missing_api_key' | 'invalid_api_key'
      readonly account: Account
      readonly limits: Limits
    }
