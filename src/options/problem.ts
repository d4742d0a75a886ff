import type { BaseIssue } from 'valibot'

/** Names and indexes from an option's value down to a part of it. */
export type Path = readonly (string | number)[]

/** Says where a part of a value was written, and its name: `petstore-sandbox.yaml:3:7: storm.rate`. */
export type Where = (path: Path) => string

const LONGEST_VALUE = 100

/**
 * Writes what is wrong with a value as one line.
 *
 * @param secret the value is left out
 */
export function writeProblem(where: string, value: unknown, message: string, secret = false): string {
  return secret || value === undefined ? `${where}: ${message}` : `${where} ${quoted(value)}: ${message}`
}

/** Writes every issue of a check. */
export function writeIssues(issues: readonly BaseIssue<unknown>[], where: Where, secret = false): readonly string[] {
  return issues
    .flatMap(tellingIssues)
    .map(({ path, input, message }) => writeProblem(where(path), input, message, secret))
}

interface TellingIssue {
  readonly path: Path
  readonly input: unknown
  readonly message: string
  /** Whether only the kind of value is wrong: "is no text". */
  readonly shallow: boolean
}

/**
 * The issues that help: of a union ("text or map"), those of the form that the
 * user has chosen. A text that cannot be read tells more than that it is no map.
 */
function tellingIssues(issue: BaseIssue<unknown>): readonly TellingIssue[] {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const deeper = (issue.issues ?? [])
    .flatMap(tellingIssues)
    .filter(({ shallow }) => !shallow)
    .map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
  if (deeper.length > 0) return deeper
  const shallow = issue.kind === 'schema' && path.length === 0
  if (issue.type === 'strict_object' && path.length > 0) {
    const message =
      issue.expected === 'never' ? `is not known; the whole ${issue.message}` : `is missing; the whole ${issue.message}`
    return [{ path, input: undefined, message, shallow }]
  }
  return [{ path, input: issue.input, message: issue.message, shallow }]
}

/** `storm.rate`, `fault[1]` */
export function pathText(name: string, path: Path): string {
  return name + path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
}

/** A value as it was given, in double quotes, on one line. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : asJson(value)
  const shown = text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
  return typeof value === 'string' ? JSON.stringify(shown) : `"${shown}"`
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
