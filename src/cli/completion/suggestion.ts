/** One way to finish the word that is being typed. */
export interface Suggestion {
  readonly value: string
  readonly description?: string
}

/** What can be completed at one position. */
export interface Suggestions {
  readonly words: readonly Suggestion[]
  /** Whether the shell should offer paths too. */
  readonly paths: 'file' | 'folder' | 'none'
}

export const NO_SUGGESTIONS: Suggestions = { words: [], paths: 'none' }

/** Words that need no quotes in any shell. */
const PLAIN = /^[\w.:@/+-]+$/

export function suggestionsOf(words: readonly string[], paths: Suggestions['paths'] = 'none'): Suggestions {
  return { words: words.filter((word) => PLAIN.test(word)).map((value) => ({ value })), paths }
}

/**
 * Writes suggestions for the scripts of the shells: a line on paths (`:none`, `:file`,
 * `:folder`), then one line a word, its meaning after a tab.
 *
 * @param typed what the word begins with
 */
export function suggestionLines({ words, paths }: Suggestions, typed: string): string {
  const lines = words
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, description = '' }) => `${value}\t${description.replace(/\s+/g, ' ')}`)
  return `${[`:${paths}`, ...lines].join('\n')}\n`
}
