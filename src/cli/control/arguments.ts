import { InvalidArgumentError } from 'commander'
import { type Int64, parseInt64 } from '../../contract/int64.js'
import { type FaultRule, parseFaultRule } from '../../domain/faults.js'
import type { DurationMs, DurationText } from '../../domain/time.js'
import { readInstant } from '../../options/values/instant.js'
import { type ParseResult, readDuration } from '../../options/values/reading.js'

export function durationText(text: string): DurationText {
  durationMs(text)
  return text as DurationText
}

export function durationMs(text: string): DurationMs {
  return valueOrThrow(readDuration(text))
}

export function timeoutMs(text: string): DurationMs {
  return valueOrThrow(readDuration(text, 1))
}

export function instantText(text: string): string {
  valueOrThrow(readInstant(text))
  return text
}

export function int64(text: string): Int64 {
  return parseInt64(text) ?? refuse('must be a 64-bit integer')
}

export function count(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse('must be a whole number of 0 or more')
}

export function rate(text: string): number {
  const isRate = /^(?:\d{1,3}(?:\.\d{1,30})?|\.\d{1,30})$/.test(text) && Number(text) <= 1
  return isRate ? Number(text) : refuse('must be a number from 0 to 1')
}

export function faultRule(text: string): FaultRule {
  const rule = parseFaultRule(text)
  return typeof rule === 'string' ? refuse(rule) : rule
}

export function defined<T extends object>(fields: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function valueOrThrow<T>(reading: ParseResult<T>): T {
  return 'value' in reading ? reading.value : refuse(reading.problem)
}

function refuse(problem: string): never {
  throw new InvalidArgumentError(problem)
}
