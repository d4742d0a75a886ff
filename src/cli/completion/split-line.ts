/**
 * Splits what was typed up to the cursor into words, as shells do; the last one is the
 * one being typed, empty after a blank. A quote may still be open.
 */
export function splitLine(line: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let inWord = false
  let quote = ''
  for (let i = 0; i < line.length; i++) {
    const letter = line.charAt(i)
    if (quote === "'" ? letter === "'" : quote === '"' && letter === '"') {
      quote = ''
    } else if (letter === '\\' && quote !== "'") {
      word += line.charAt(++i)
      inWord = true
    } else if (quote !== '') {
      word += letter
    } else if (letter === "'" || letter === '"') {
      quote = letter
      inWord = true
    } else if (/\s/.test(letter)) {
      if (inWord) words.push(word)
      word = ''
      inWord = false
    } else {
      word += letter
      inWord = true
    }
  }
  return [...words, word]
}

/** The words after the program's name; variables may be set before it: `PETSTORE_SANDBOX_PLAN=pro petstore-sandbox serve`. */
export function argumentsOf(line: string): readonly string[] {
  const words = splitLine(line)
  const program = words.findIndex((word) => !/^\w+=/.test(word))
  return words.slice(program + 1)
}
