import type { Violation } from '../contract/contract.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { type ErrorData, FILLED } from '../contract/resource-data.js'
import type { HandlerResult } from '../domain/messages.js'
import { inWordsOf } from './error-words.js'

/** The body of a documented error. */
export function fillError(
  { contentType, body, ofFields, words, envelope = '' }: ErrorData,
  status: number,
  { code, message, violations = [] }: NonNullable<HandlerResult['problem']>,
): string {
  const whole: Filling = { code, status, message, violation: undefined }
  if (contentType.startsWith('text/')) return String(filledText(body, whole))
  const worded = violations.map(({ name, ...others }) =>
    inWordsOf(words, { ...others, name: name.replace(envelope, '') }),
  )
  const form = worded.length > 0 ? (ofFields ?? body) : body
  return stringifyJson(fill(parseShallowJson(form), whole, worded))
}

/** Those of node:http, which pages lack. */
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  507: 'Insufficient Storage',
}

/** What documented codes have in their names, best first. */
const CODE_WORDS: Readonly<Record<number, string>> = {
  400: 'validation badrequest invalid',
  401: 'unauth auth',
  403: 'forbidden permission denied',
  404: 'notfound missing',
  409: 'conflict exist duplicate taken',
  412: 'precondition',
  422: 'validation unprocessable invalid',
  428: 'precondition',
  429: 'rate toomany quota limit throttl',
}
const OF_CLIENT = 'invalid badrequest validation'
const OF_SERVER = 'internal server unavailable unknown'

/** The documented code for a problem: the first that has its rule, a word for its status, or that of a wider kind. */
function chosen(choices: readonly string[], { code, status, violation }: Filling): string | undefined {
  const words = [violation?.rule, CODE_WORDS[status], code, status < 500 ? OF_CLIENT : OF_SERVER]
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z ]/g, '')
  const fitting = words
    .flatMap((text) => (text ? letters(text).split(' ') : []))
    .map((word) => choices.find((choice) => letters(choice).includes(word)))
  return fitting.find((choice) => choice !== undefined) ?? choices[0]
}

interface Filling {
  readonly code: string
  readonly status: number
  readonly message: string
  readonly violation: Violation | undefined
}

/** Fills a documented error; a list of errors gets an entry for each violation. */
function fill(value: unknown, filling: Filling, violations: readonly Violation[]): unknown {
  if (typeof value === 'string') return filledText(value, filling)
  if (typeof value !== 'object' || value === null) return value
  const entries = violations.map((violation) => ({ ...filling, violation, message: violation.message }))
  if (Array.isArray(value)) {
    const steps = value[0] === FILLED.path || value[0] === FILLED.steps ? stepsOf(filling.violation) : undefined
    if (steps !== undefined) {
      const own = steps.slice(value.length - 1)
      return value[0] === FILLED.steps ? own.map(String) : own
    }
    return entries.length > 0 && value.length === 1 && isOfEach(value[0])
      ? entries.map((entry) => fill(value[0], entry, []))
      : value.map((item) => fill(item, filling, violations))
  }
  const isOfField = ([, field]: readonly [string, unknown]) => [field].flat()[0] === FILLED.ofField
  const names = Object.entries(value).filter(isOfField)
  if (names.length > 0) return byField(Object.fromEntries(names), entries.length > 0 ? entries : [filling])
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, fill(field, filling, violations)]))
}

/** Whether a list has its item for each problem, rather than a list inside the item. */
function isOfEach(item: unknown): boolean {
  const isSentence = (value: unknown) => typeof value === 'string' && value.includes(FILLED.message)
  const text = stringifyJson(item)
  const isInside = !isSentence(item) && !Object.values(Object(item)).some(isSentence) && LISTED.test(text)
  return text.includes(FILLED.message) && !isInside
}

const LISTED = /\[[^\]]*\{message\}/

/** @param forms of the fields, the general one last; or of any field, under the name of the placeholder */
function byField(forms: Readonly<Record<string, unknown>>, entries: readonly Filling[]): unknown {
  const names = Object.keys(forms)
  const messages: Record<string, readonly string[]> = {}
  for (const { violation, message } of entries) {
    const place = placeOf(violation)
    const own = FILLED.place in forms ? place : names.find((name) => name === place.replace(/[.[].*/s, ''))
    const name = own ?? names.at(-1) ?? ''
    messages[name] = [...(messages[name] ?? []), message]
  }
  const isText = Object.values(forms).includes(FILLED.ofField)
  return Object.fromEntries(Object.entries(messages).map(([name, all]) => [name, isText ? all.join('; ') : all]))
}

function filledText(text: string, filling: Filling): unknown {
  const { code, status, message, violation } = filling
  if (text === FILLED.status) return status
  if (text.startsWith(FILLED.choice)) return chosen(text.slice(FILLED.choice.length).split('|'), filling)
  return text
    .replaceAll(FILLED.statusInText, String(status))
    .replaceAll(FILLED.phrase, PHRASES[status] ?? code)
    .replaceAll(FILLED.code, code)
    .replaceAll(FILLED.rule, violation?.rule ?? code)
    .replaceAll(FILLED.pointer, () =>
      stepsOf(violation)
        .slice(1)
        .map((step) => `/${step}`)
        .join(''),
    )
    .replaceAll(FILLED.place, () => placeOf(violation))
    .replaceAll(FILLED.message, () => message)
}

/** The field, or the part of the request if it is not a single field. */
function placeOf(violation: Violation | undefined): string {
  return violation === undefined ? '' : violation.name || violation.in
}

/** `["body", "tags", 0]` */
function stepsOf(violation: Violation | undefined): readonly (string | number)[] {
  if (violation === undefined) return []
  const steps = violation.name.split(/[.[\]]+/).filter((step) => step !== '')
  return [violation.in, ...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))]
}
