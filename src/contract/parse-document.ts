import { exactInteger } from './int64.js'
import { parseJson } from './json.js'
import { SpecError } from './spec-error.js'

/**
 * Parses an OpenAPI document, YAML or JSON; whole numbers in it are exact.
 *
 * @param file for the error message only
 * @throws SpecError naming file, line and column
 */
export async function parseDocument(file: string, text: string): Promise<unknown> {
  if (/^\s*\{/.test(text)) {
    try {
      return parseJson(text)
    } catch (error) {
      // A YAML document may begin with a brace too.
      if (file.endsWith('.json')) throw new SpecError(`${file} is not JSON: ${messageOf(error)}`)
    }
  }
  const yaml = await import('yaml')
  const document = yaml.parseDocument(text, { intAsBigInt: true, merge: true, prettyErrors: false })
  const [mistake] = document.errors
  if (mistake !== undefined) {
    const { line, column } = lineAndColumn(text, mistake.pos[0])
    throw new SpecError(`${file} is not YAML: ${mistake.message} at line ${line}, column ${column}`)
  }
  try {
    return document.toJS({
      reviver: (_key, value: unknown) => (typeof value === 'bigint' ? exactInteger(value) : value),
    })
  } catch (error) {
    const problem = error instanceof RangeError ? 'its aliases go in a circle' : messageOf(error)
    throw new SpecError(`${file} cannot be read: ${problem}`)
  }
}

function lineAndColumn(text: string, position: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, position).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
