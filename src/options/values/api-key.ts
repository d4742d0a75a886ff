import { type ApiKey, PLAN_NAMES } from '../../domain/keys.js'
import { joinOr, type ParseResult, textSchema } from './reading.js'

/** What may follow "Bearer", without `~`: that marks a space. @source RFC 6750, section 2.1: b64token */
const KEY = /^[A-Za-z0-9._+/-]+=*$/
const LONGEST_KEY = 4096
const KEY_FORM = `must consist of letters, digits and . _ - + /, with = only at the end, at most ${LONGEST_KEY} characters ("~" marks spaces)`
/** How a key may be called, and no longer than a report's line likes it. */
const LABEL = /^[A-Za-z0-9._-]{1,64}$/
const FORM = `must be <key>, <key>:<plan> or <label>=<key>:<plan> with the plan ${joinOr(PLAN_NAMES)} and a label of 1 to 64 of A-Z a-z 0-9 . _ -`

/** Reads an API key alone. */
function readKey(text: string): ParseResult<string> {
  return KEY.test(text) && text.length <= LONGEST_KEY ? { value: text } : { problem: KEY_FORM }
}

/** Reads `key`, `key:plan` or `label=key:plan`; without a plan the key is on Free. */
export function readApiKey(text: string): ParseResult<ApiKey> {
  const [name = '', planText, ...rest] = text.split(':')
  const plan = PLAN_NAMES.find((name) => name === planText)
  if (rest.length > 0 || (planText !== undefined && plan === undefined)) return { problem: FORM }
  // A key may end in "=", so a label is only what has something else behind it.
  const [, label, labelled] = /^([^=]*)=(?!=*$)(.*)$/.exec(name) ?? []
  const key = labelled ?? name
  if (label !== undefined && !LABEL.test(label)) return { problem: FORM }
  const reading = readKey(key)
  if ('problem' in reading) return reading
  if (key === 'sandbox' && plan !== undefined)
    return { problem: 'must not have a plan: the key sandbox gets its plan from --plan' }
  return {
    value: { key, ...(label === undefined ? {} : { label }), ...(plan === undefined ? {} : { plan }) },
  }
}

export const keySchema = textSchema(KEY_FORM, readKey)
export const apiKeySchema = textSchema(FORM, readApiKey)
