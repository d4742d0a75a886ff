import type { OptionRow } from './option-row.js'

const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  yes: true,
  on: true,
  0: false,
  false: false,
  no: false,
  off: false,
}

/**
 * Reads a flag or an environment variable as the value that a program or a
 * file would have. What cannot be read stays a string, which the check refuses.
 */
export function naturalFromText(reads: OptionRow['reads'], text: string): unknown {
  switch (reads) {
    case 'text':
      return text
    case 'number':
      return /^-?\d{1,30}(?:\.\d+)?$/.test(text) ? Number(text) : text
    case 'switch': {
      const word = text.toLowerCase()
      return Object.hasOwn(SWITCH_WORDS, word) ? SWITCH_WORDS[word] : text
    }
    case 'list':
      // The comma before the wait of a fault is the fault's own.
      return text.split(/,(?!\s*retry-after=)/).map((part) => part.trim())
  }
}
