import { describe, expect, it } from 'vitest'
import { HiddenKeys } from '../../src/replication/secrets.js'

describe('keys given at the start', () => {
  const keys = new HiddenKeys(['sk_live_secret', 'sk_live_secret_2', 'a"quote\\d', 'short', '12345678', 'a/secret+1='])

  it('are not in stored text, and are restored when it is read', () => {
    const text = JSON.stringify({
      a: 'Bearer sk_live_secret',
      b: ['sk_live_secret_2', 'a"quote\\d'],
      c: '~12345678',
      d: 'name=a%2Fsecret%2B1%3D',
    })
    const hidden = keys.hide(text)
    expect(hidden).not.toMatch(/sk_live|quote|5678|secret/)
    expect(keys.show(hidden)).toBe(text)
  })

  it('change no names of properties, no numbers, and no short words', () => {
    const text = JSON.stringify({ sk_live_secret: 12345678, short: 'a short word', n: [12345678] })
    expect(keys.hide(text)).toBe(text)
  })

  it('are masked, and nothing else, for a start without them or with others', () => {
    const text = JSON.stringify({ key: 'sk_live_secret', other: 'a/secret+1=' })
    const expected = text.replace('sk_live_secret', '***')
    expect(new HiddenKeys(['other-key', 'a/secret+1=']).show(keys.hide(text))).toBe(expected)
  })

  it('cannot be revealed by a placeholder in a request', () => {
    const text = JSON.stringify({ name: '\u00010\u0002', other: '\\u00010\\u0002' })
    expect(keys.show(keys.hide(text))).toBe(text)
  })

  it('are restored where they are next to each other', () => {
    const text = '"sk_live_secret1sk_live_secret_2 1"'
    expect(keys.show(keys.hide(text))).toBe(text)
  })
})
