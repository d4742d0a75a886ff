import { describe, expect, it } from 'vitest'
import { patternText } from '../../src/contract/pattern-text.js'

describe('a text for a pattern', () => {
  it.each([
    ['^[A-Z]{3}-\\d{4}$', {}],
    ['^\\+?[1-9]\\d{1,14}$', {}],
    ['^#(?:[0-9a-f]{3}){1,2}$', {}],
    ['^(?<kind>usr|org)_[^\\W_]+$', { minLength: 12 }],
    ['^\\p{Lu}\\S*@\\w+\\.(com|net)$', {}],
    ['^(GET|POST)|x{2,}$', {}],
    ['[a-z]+', { minLength: 20, maxLength: 20 }],
    ['^€\\/\\.$', {}],
  ])('of %s matches it', (pattern, lengths: { minLength?: number; maxLength?: number }) => {
    const text = patternText(pattern, lengths)
    expect(text).toMatch(new RegExp(pattern, 'u'))
    expect(text?.length).toBeGreaterThanOrEqual(lengths.minLength ?? 0)
    expect(text?.length).toBeLessThanOrEqual(lengths.maxLength ?? 100)
  })

  it.each(['^(?=.*\\d)\\w{8}$', '^(a)\\1$', '(', '^a{5}$'])('of %s is unknown', (pattern) => {
    expect(patternText(pattern, { maxLength: 4 })).toBeUndefined()
  })
})
