import { nativePattern, withAnchors } from './patterns.js'

/** Characters to choose from, the most usual first. */
const CHARACTERS = `a0A-_ .${Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')}`
const MAX_REPEATS = 256

interface Lengths {
  readonly minLength?: unknown
  readonly maxLength?: unknown
}

/** Chooses one of a number of characters. */
type Pick = (count: number) => number

/** A short text that matches a pattern, or undefined for a pattern with more than classes, groups, choices and counts. */
export function patternText(
  written: string,
  { minLength = 0, maxLength = Infinity }: Lengths = {},
  pick: Pick = () => 0,
): string | undefined {
  const pattern = withAnchors(written.replace(/^\(\?[ims]+\)/, ''))
  try {
    const regExp = new RegExp(pattern, 'u')
    for (let extra = 0, before = -1; extra <= MAX_REPEATS; extra++) {
      const text = new PatternReader(pattern, extra, pick).choice()
      if (text.length < Number(minLength)) {
        // Nothing in it repeats, or not often enough.
        if (text.length === before) return undefined
        before = text.length
        continue
      }
      return text.length <= Number(maxLength) && regExp.test(text) ? text : undefined
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return undefined
}

/** For patterns with more than classes, groups, choices and counts. */
const TEXTS = [
  ...['0', '1', 'a', 'A', 'abc', 'ABC', 'a1', 'Abcdef1!', '1.00', '2026-01-01', 'https://example.com/'],
  '3be6453c-03eb-8357-ae5a-984a0e574a54',
]

/** A usual text that matches a pattern, whatever it has. @param preferred texts to try first */
export function usualText(pattern: string, preferred: readonly string[] = []): string | undefined {
  const regExp = nativePattern(pattern)
  return [...preferred, ...TEXTS].find((text) => regExp?.test(text) ?? true)
}

class PatternReader {
  readonly #pattern: string
  readonly #extra: number
  readonly #pick: Pick
  #at = 0

  constructor(pattern: string, extra: number, pick: Pick) {
    this.#pattern = pattern
    this.#extra = extra
    this.#pick = pick
  }

  choice(): string {
    const texts = [this.#sequence()]
    while (this.#take(/\|/y) !== undefined) texts.push(this.#sequence())
    return texts[0] ?? ''
  }

  #sequence(): string {
    let text = ''
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at] ?? '')) text += this.#repeated()
    return text
  }

  #atom(): () => string {
    if (this.#take(/[\^$]|\\b/y) !== undefined) return () => ''
    if (this.#take(/\((?:\?(?::|<\w+>))?(?!\?)/y) !== undefined) {
      const text = this.choice()
      this.#at++
      return () => text
    }
    const value = this.#take(/\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\[^1-9ukxcB]|[^()[\]{}*+?\\]/y)
    if (value === undefined) throw new SyntaxError('this part of the pattern is not supported')
    const regExp = new RegExp(`^${value}$`, 'u')
    const all = [...CHARACTERS, value].filter((character) => regExp.test(character))
    const plain = all.filter((character) => /[\w-]/.test(character))
    const usual = plain.length > 0 ? plain : all
    return () => usual[this.#pick(usual.length)] ?? ''
  }

  #repeated(): string {
    const make = this.#atom()
    const count = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
    if (count === undefined) return make()
    const [, least = count.startsWith('+') ? '1' : '0', comma, most] = /^\{(\d+)(,?)(\d*)/.exec(count) ?? []
    const open = count.startsWith('?') ? 1 : comma === '' ? Number(least) : most ? Number(most) : Infinity
    const length = Math.min(open, Number(least) + this.#extra, Math.max(Number(least), MAX_REPEATS))
    return Array.from({ length }, make).join('')
  }

  #take(part: RegExp): string | undefined {
    part.lastIndex = this.#at
    const [found] = part.exec(this.#pattern) ?? []
    this.#at += found?.length ?? 0
    return found
  }
}
