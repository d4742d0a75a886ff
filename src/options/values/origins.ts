import * as v from 'valibot'
import { readBasePath } from '../../contract/base-path.js'
import type { AllowedOrigins } from '../../domain/web-origins.js'
import { listOf, type ParseResult, textSchema } from './reading.js'

const FORM = 'must be an origin such as http://localhost:6006: scheme, host and port only'
const CORS_FORM = 'must be *, loopback, off, or origins separated by commas, for example http://localhost:3000'
/** Any scheme: capacitor://localhost, chrome-extension://… */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/\\\s?#@,]+$/i

/** Normalises a web origin as browsers do: lower case, without the default port. */
export function readOrigin(text: string): ParseResult<string> {
  if (!ORIGIN.test(text)) return { problem: FORM }
  if (!URL.canParse(text)) return { problem: FORM }
  const { origin } = new URL(text)
  return { value: origin === 'null' ? text.toLowerCase() : origin }
}

const originSchema = textSchema(FORM, readOrigin)
export const originsSchema = listOf(originSchema, FORM)

const corsTextSchema = textSchema<AllowedOrigins>(CORS_FORM, (text) => {
  if (text === '*' || text === 'loopback') return { value: text }
  if (text === 'off') return { value: [] }
  const origins: string[] = []
  for (const part of text.split(',')) {
    const reading = readOrigin(part.trim())
    if ('problem' in reading) return { problem: CORS_FORM }
    origins.push(reading.value)
  }
  return { value: origins }
})

/** A list is empty if CORS is off. */
export const corsSchema = v.union([corsTextSchema, originsSchema], CORS_FORM)

const BASE_PATH_FORM = 'must be a path such as /, /api or /api/v2, outside /__sandbox and /~'

/** Without a trailing slash; empty for the root. */
export function readBasePathOption(text: string): ParseResult<string> {
  const value = text.startsWith('/') ? readBasePath(text) : undefined
  return value === undefined ? { problem: BASE_PATH_FORM } : { value }
}

export const basePathSchema = textSchema(BASE_PATH_FORM, readBasePathOption)
