import { InvalidArgumentError } from 'commander'
import { type Int64, parseInt64 } from '../../contract/int64.js'
import { type FaultRule, parseFaultRule } from '../../domain/faults.js'
import type { DurationMs } from '../../domain/time.js'
import { readDuration } from '../../options/values/duration.js'
import { readInstant } from '../../options/values/instant.js'
import type { ParseResult } from '../../options/values/reading.js'

// Typing mistakes are reported before anything is sent.

/** Checks a duration and passes it on as the string that the control plane expects. */
export function durationText(text: string): string {
  valueIn(readDuration(text))
  return text
}

export function durationMs(text: string): DurationMs {
  return valueIn(readDuration(text))
}

/** How long something is waited for. */
export function patienceMs(text: string): DurationMs {
  const value = durationMs(text)
  if (value === 0) throw new InvalidArgumentError('must be longer than 0')
  return value
}

/** Checks an instant and passes it on as the string that the control plane expects. */
export function instantText(text: string): string {
  valueIn(readInstant(text))
  return text
}

export function int64(text: string): Int64 {
  const value = parseInt64(text)
  if (value === undefined) throw new InvalidArgumentError('must be a 64-bit integer')
  return value
}

export function count(text: string): number {
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number of 0 or more')
  return value
}

/** A share of all requests. */
export function rate(text: string): number {
  const value = Number(text)
  if (!/^(?:\d{1,3}(?:\.\d{1,30})?|\.\d{1,30})$/.test(text) || value > 1) {
    throw new InvalidArgumentError('must be a number from 0 to 1')
  }
  return value
}

export function faultRule(text: string): FaultRule {
  const rule = parseFaultRule(text)
  if (typeof rule === 'string') throw new InvalidArgumentError(rule)
  return rule
}

function valueIn<T>(reading: ParseResult<T>): T {
  if ('value' in reading) return reading.value
  throw new InvalidArgumentError(reading.problem)
}
