import { parseJson, stringifyJson } from '../../contract/json.js'

/**
 * Writes JSON for reading, with the digits that JSON.parse would lose.
 *
 * @returns undefined if nothing would be lost, or if the text is no JSON
 */
export function exactJson(text: string): string | undefined {
  try {
    const exact = stringifyJson(parseJson(text), 2)
    return exact === JSON.stringify(JSON.parse(text), undefined, 2) ? undefined : exact
  } catch {
    return undefined
  }
}
