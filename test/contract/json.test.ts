import { describe, expect, it } from 'vitest'
import { INT64_MAXIMUM, INT64_MINIMUM, parseInt64 } from '../../src/contract/int64.js'
import { isNestedDeeper, parseJson, stringifyJson } from '../../src/contract/json.js'
import { findJsonError, placeOf } from '../../src/contract/json-error.js'
import fc from '../support/fast-check.js'

const int64 = fc.bigInt({ min: INT64_MINIMUM, max: INT64_MAXIMUM })

describe('a whole number', () => {
  it.each([
    ['1', 1],
    ['1.0', 1],
    ['1e3', 1000],
    ['12300e-2', 123],
    ['-0', 0],
    ['0e99999999999', 0],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['900719925474099.3e1', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 9223372036854775808n],
  ])('written %s is read exactly', (text, value) => {
    expect(parseJson(text)).toBe(value)
    expect(parseJson(`{"a":[${text}]}`)).toEqual({ a: [value] })
  })

  it('is not made of a fraction by rounding', () => {
    expect(parseJson('1.00000000000000000001')).toBeNaN()
    expect(parseJson('9007199254740993.5')).toBeNaN()
    expect(parseJson('1e-400')).toBeNaN()
    expect(parseJson('1.5000000000000000')).toBe(1.5)
  })

  it('of excessive size becomes infinite', () => {
    expect(parseJson('1e999999999999999999999')).toBe(Number.POSITIVE_INFINITY)
    expect(parseJson('-1e1000000000')).toBe(Number.NEGATIVE_INFINITY)
    expect(parseJson('9'.repeat(1_000_000))).toBe(Number.POSITIVE_INFINITY)
  })

  it('survives reading and writing digit for digit', () => {
    fc.assert(
      fc.property(fc.array(int64), (values) => {
        const text = `{"a":[${values.join(',')}]}`
        expect(stringifyJson(parseJson(text))).toBe(text)
      }),
    )
  })
})

describe('reading JSON', () => {
  it('agrees with JSON.parse wherever that is exact', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const exact = !/\d{16}|e\+/.test(text)
        fc.pre(exact)
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it.each([
    '{"a":1,"a":2,"big":9007199254740993}',
    '{"__proto__":{"x":1},"constructor":1,"big":9007199254740993}',
    '["\\"9007199254740993\\\\",9007199254740993,"1e5","-0",{"12345678901234567":"\\\\"}]',
    ' [ 9007199254740993 , true , null , "x" , -1.5e-3 ] ',
  ])('differs from JSON.parse in the digits only: %s', (text) => {
    const rounded = JSON.parse(text)
    const exact = parseJson(text)
    expect(JSON.parse(stringifyJson(exact))).toEqual(rounded)
    expect(stringifyJson(exact)).toContain('9007199254740993')
  })

  it('accepts the same texts as JSON.parse', () => {
    const part = fc.constantFrom(
      ...['1e5', '1e5e5', '1.2.3', '-01e5', '+1e5', '.5e3', '1.5', '9007199254740993', '-0', 'e1e5', 'true1e5'],
      ...['"1e5"', '"\\"1e5"', '"\\\\"', '"1e5', '{"a":', '}', '[', ']', ',', ' '],
    )
    const isRead = (read: (text: string) => unknown, text: string) => {
      try {
        read(text)
        return true
      } catch {
        return false
      }
    }
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const text = parts.join('')
        for (const whole of [text, `[${text}]`])
          expect(isRead(parseJson, whole), whole).toBe(isRead((given) => JSON.parse(given), whole))
      }),
      { numRuns: 5000 },
    )
  })

  it('does not let "__proto__" reach a prototype', () => {
    const value = parseJson('{"__proto__":{"polluted":9007199254740993}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(Object(value))).toEqual(['__proto__'])
  })

  it('reads deeply nested texts', () => {
    const depth = 200_000
    let value = parseJson(`${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`)
    for (let level = 0; level < depth; level++) value = Reflect.get(Object(value), 0)
    expect(value).toBe(9007199254740993n)
  })

  it.each([
    ['', 'unexpected end at line 1, column 1'],
    ['{\n  "a": abc\n}', 'unexpected "a" at line 2, column 8'],
    ["{'a':1}", 'unexpected "\'" at line 1, column 2'],
    ['"a\nb"', 'unexpected "\\n" at line 1, column 3'],
    ['["\\u00"]', 'unexpected "\\"" at line 1, column 7'],
    ['["🐢" 🐢]', 'unexpected "🐢" at line 1, column 7'],
    ['{} {}', 'unexpected "{" at line 1, column 4'],
  ])('says where %j stops being JSON', (text, message) => {
    expect(() => parseJson(text)).toThrow(new SyntaxError(message))
  })
})

describe('finding a mistake', () => {
  /** Valid texts, and valid ones with a character put in, taken out or replaced. */
  const almostJson = fc
    .tuple(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom('', '"', '\\', '\\u00', ',', ':', '{', '}', ']', '0', '-', 'e', '.', 'u', ' '),
      fc.boolean(),
    )
    .map(([text, place, put, over]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + put + text.slice(over ? at + 1 : at)
    })

  it('finds the position that JSON.parse reports', () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        const said = whatJsonParseSays(text)
        const found = findJsonError(text)
        expect(found !== undefined, `${text}: ${said} / ${found}`).toBe(said !== undefined)
        const position = said === undefined ? undefined : / at position (\d+)/.exec(said)?.[1]
        if (position !== undefined) expect(found, said).toContain(placeOf(text, Number(position)))
      }),
      { numRuns: 2000 },
    )
  })

  it('does not overflow the stack on millions of escapes', () => {
    const text = `["${'\\n'.repeat(5_000_000)}"`
    expect(findJsonError(text)).toBe(`unexpected end at ${placeOf(text, text.length)}`)
    expect(isNestedDeeper(text, 1)).toBe(false)
  })

  function whatJsonParseSays(text: string): string | undefined {
    try {
      JSON.parse(text)
      return undefined
    } catch (error) {
      return String(error)
    }
  }
})

describe('writing JSON', () => {
  it('agrees with JSON.stringify without a bigint', () => {
    const value = {
      a: [1, -0, 1e21, Number.NaN, undefined, 'x'],
      b: new Date(0),
      c: undefined,
      d: { e: true },
      f: Object(7),
    }
    expect(stringifyJson(value)).toBe(JSON.stringify(value))
    expect(stringifyJson({ ...value, big: 1n })).toBe(JSON.stringify({ ...value, big: 1 }))
    expect(stringifyJson({ ...value, big: 1n }, 2)).toBe(JSON.stringify({ ...value, big: 1 }, undefined, 2))
  })

  it('writes digits even if BigInt has a toJSON that returns a string', () => {
    Object.defineProperty(BigInt.prototype, 'toJSON', { value: String, configurable: true })
    try {
      expect(stringifyJson({ id: 9007199254740993n, n: 1, s: '2' })).toBe('{"id":9007199254740993,"n":1,"s":"2"}')
    } finally {
      Reflect.deleteProperty(BigInt.prototype, 'toJSON')
    }
  })
})

describe('an int64 in a path', () => {
  it.each(['1', '0', '-1', '9223372036854775807', '-9223372036854775808'])('is read from %s', (text) => {
    expect(String(parseInt64(text))).toBe(text)
  })

  it.each([
    ...['', '-0', '+1', '01', '-01', '1.0', '1e3', ' 1', '0x1', '٣'],
    ...['9223372036854775808', '-9223372036854775809', '9'.repeat(99)],
  ])('is not read from %j', (text) => {
    expect(parseInt64(text)).toBeUndefined()
  })

  it('equals the same number read from JSON (===)', () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(parseInt64(String(value))).toBe(parseJson(String(value)))
      }),
    )
  })
})
