import { batch, signal } from '@preact/signals'
import type { NewPet, Pet, PetStatus } from '../../contract/entities.js'
import { parseJson } from '../../contract/json.js'
import { type DurationMs, readRetryAfter } from '../../domain/time.js'
import { messageOf, NO_OUTCOMES, type Outcome, outcomeOf } from '../format.js'
import { POLICIES, type PolicyName } from './policies.js'

// A shop's client: lists and adds pets, once or in a loop, with a retry policy.

interface Attempt {
  readonly number: number
  readonly outcome: Outcome
  /** `429 rate_limit_exceeded`, or the reason for a missing response. */
  readonly text: string
}

/** Relative to the page. */
const SERVICE = 'v1'
const MAX_ATTEMPTS_KEPT = 90
const MAX_ATTEMPTS = 5
const PETS_SHOWN = 12
const POLL_MS: DurationMs = 50

export const key = signal('sandbox-free')
export const policy = signal<PolicyName>('none')
/** Maximum requests per second; each waits for the previous response. */
export const rate = signal(2)
export const petFilter = signal<PetStatus | 'all'>('all')
export const isLooping = signal(false)
export const attempts = signal<readonly Attempt[]>([])
export const counts = signal(NO_OUTCOMES)
/** `until` is by the client's own time. */
export const waiting = signal<{ readonly until: number; readonly attempts: number } | undefined>(undefined)
export const pets = signal<readonly Pet[] | undefined>(undefined)
export const error = signal('')

let ahead: DurationMs = 0
let number = 0
let loop = new AbortController()
/** Aborted by the next manual request. */
let byHand = new AbortController()

/** Milliseconds; moves with the sandbox's clock. */
export function clientTime(): number {
  return performance.now() + ahead
}

export function advanceTime(by: DurationMs): void {
  ahead += by
}

export function tryNow(): void {
  if (waiting.value !== undefined) advanceTime(Math.max(0, waiting.value.until - clientTime()))
}

export function show(filter: PetStatus | 'all'): Promise<void> {
  petFilter.value = filter
  return refresh()
}

export function refresh(): Promise<void> {
  return listPets(takeHand())
}

/** @returns whether the pet was added */
export async function add(pet: NewPet): Promise<boolean> {
  const signal = takeHand()
  const headers = { 'content-type': 'application/json' }
  const body = await send('pets', { method: 'POST', body: JSON.stringify(pet), headers }, signal)
  if (body === undefined) return false
  await listPets(signal)
  return true
}

export async function startLoop(): Promise<void> {
  loop.abort()
  loop = new AbortController()
  const { signal } = loop
  batch(() => {
    isLooping.value = true
    attempts.value = []
    counts.value = NO_OUTCOMES
  })
  while (!signal.aborted) {
    await listPets(signal)
    await wait(1000 / rate.value, signal)
  }
}

export function stopLoop(): void {
  loop.abort()
  isLooping.value = false
}

function takeHand(): AbortSignal {
  byHand.abort()
  byHand = new AbortController()
  return byHand.signal
}

async function wait(length: DurationMs, signal: AbortSignal): Promise<void> {
  const until = clientTime() + length
  for (let left = length; left > 0 && !signal.aborted; left = until - clientTime())
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, left)))
}

async function listPets(signal: AbortSignal): Promise<void> {
  const status = petFilter.value
  const query = new URLSearchParams({ limit: String(PETS_SHOWN), ...(status === 'all' ? {} : { status }) })
  const body = await send(`pets?${query}`, {}, signal)
  if (body !== undefined && !signal.aborted) pets.value = parseJson(body) as readonly Pet[]
}

/** Retries until success, or until the policy stops. @returns the body; undefined after a failure */
async function send(path: string, init: RequestInit, signal: AbortSignal): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    const { body, failure, isRetryable, retryAfter } = await sendOnce(path, init)
    if (!signal.aborted) error.value = failure
    const random = Math.random()
    const delay = isRetryable ? POLICIES[policy.value].wait({ attempt, retryAfter, random }) : undefined
    if (delay === undefined || attempt === MAX_ATTEMPTS || signal.aborted) return body
    const pause = { until: clientTime() + delay, attempts: attempt }
    waiting.value = pause
    await wait(delay, signal)
    if (waiting.value === pause) waiting.value = undefined
    if (signal.aborted) return body
  }
}

/** @returns the body, or a failure for display */
async function sendOnce(path: string, init: RequestInit) {
  const headers = { ...init.headers, authorization: `Bearer ${key.value}` }
  try {
    const response = await fetch(`${SERVICE}/${path}`, { ...init, headers, cache: 'no-store' })
    const { status, ok } = response
    const body = await response.text()
    const { code, message } = ok ? {} : errorIn(body)
    note(outcomeOf({ status }), code === undefined ? String(status) : `${status} ${code}`)
    const [wait, date] = ['retry-after', 'date'].map((name) => response.headers.get(name) ?? undefined)
    return {
      body: ok ? body : undefined,
      failure: ok ? '' : `${status}: ${message ?? 'no message'}`,
      isRetryable: status === 429 || status >= 500,
      retryAfter: readRetryAfter(wait, date, undefined),
    }
  } catch (failure) {
    note('cut', `no response: ${String(failure)}`)
    return { body: undefined, failure: `No response: ${messageOf(failure)}.`, isRetryable: true, retryAfter: undefined }
  }
}

function note(outcome: Outcome, text: string): void {
  batch(() => {
    attempts.value = [...attempts.value, { number: number++, outcome, text }].slice(-MAX_ATTEMPTS_KEPT)
    counts.value = { ...counts.value, [outcome]: counts.value[outcome] + 1 }
  })
}

/** A storm may send another body. */
function errorIn(body: string): { readonly code?: string; readonly message?: string } {
  try {
    return Object(JSON.parse(body))
  } catch {
    return {}
  }
}
