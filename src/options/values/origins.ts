import * as v from 'valibot'
import { type ParseResult, textSchema } from './reading.js'

const FORM = 'must be an origin such as http://localhost:6006: scheme, host and port only'
const CORS_FORM = 'must be *, off, or origins separated by commas, for example http://localhost:3000'
/** Other schemes too: capacitor://localhost, chrome-extension://… */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/\\\s?#@,]+$/i

/** Reads a web origin, as a browser would write it: lower case, without the scheme's own port. */
export function readOrigin(text: string): ParseResult<string> {
  if (!ORIGIN.test(text)) return { problem: FORM }
  if (!URL.canParse(text)) return { problem: FORM }
  const { origin } = new URL(text)
  return { value: origin === 'null' ? text.toLowerCase() : origin }
}

const originSchema = textSchema(FORM, readOrigin)
export const originsSchema = v.array(originSchema, FORM)

const corsTextSchema = textSchema<'*' | readonly string[]>(CORS_FORM, (text) => {
  if (text === '*') return { value: '*' }
  if (text === 'off') return { value: [] }
  const origins: string[] = []
  for (const part of text.split(',')) {
    const reading = readOrigin(part.trim())
    if ('problem' in reading) return { problem: CORS_FORM }
    origins.push(reading.value)
  }
  return { value: origins }
})

/** Which origins browsers may call from: `*`, or a list (empty: CORS is off). */
export const corsSchema = v.union([corsTextSchema, originsSchema], CORS_FORM)
