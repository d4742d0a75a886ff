import { describe, expect, it } from 'vitest'
import { HiddenKeys } from '../../src/replication/secrets.js'

describe('keys given at the start', () => {
  const keys = new HiddenKeys(['sk_live_secret', 'sk_live_secret_2', 'a"quote\\d', 'short'])

  it('are not in stored text, and are restored when it is read', () => {
    const text = JSON.stringify({
      a: 'Bearer sk_live_secret',
      b: ['sk_live_secret_2', 'a"quote\\d'],
      c: 'Bearer short',
      d: 'shorter',
    })
    const hidden = keys.hide(text)
    expect(hidden).not.toMatch(/sk_live|quote|short\b/)
    expect(keys.show(hidden)).toBe(text)
  })

  it('cannot be revealed by a placeholder in a request', () => {
    const text = JSON.stringify({ name: '\u00010\u0002', other: '\\u00010\\u0002' })
    expect(keys.show(keys.hide(text))).toBe(text)
  })

  it('are restored where they are next to each other', () => {
    const text = 'sk_live_secret1sk_live_secret_2 1 short'
    expect(keys.show(keys.hide(text))).toBe(text)
  })
})
