import type { BaseIssue } from 'valibot'
import { excerpt } from '../contract/excerpt.js'

/** Names and indexes from an option's value down to a part of it. */
export type Path = readonly (string | number)[]

/** Says where a part of a value was written, and its name: `petstore-sandbox.yaml:3:7: storm.rate`. */
export type Where = (path: Path) => string

const LONGEST_VALUE = 100
/** Nobody reads more problems at once. */
const MOST_TOLD = 50

/**
 * Formats what is wrong with a value as one line.
 *
 * @param secret the value is left out
 */
export function writeProblem(where: string, value: unknown, message: string, secret = false): string {
  return secret || value === undefined ? `${where}: ${message}` : `${where} ${quoted(value)}: ${message}`
}

/** What is wrong, as it is told: so many problems, and how many more there are. Those are not even written. */
export class Problems {
  readonly #told: string[] = []
  #others = 0

  add(write: () => string): void {
    if (this.#told.length < MOST_TOLD) this.#told.push(write())
    else this.#others++
  }

  list(): readonly string[] {
    return this.#others === 0 ? this.#told : [...this.#told, `and ${this.#others} more`]
  }
}

/** Writes every issue of a check. */
export function writeIssues(issues: readonly BaseIssue<unknown>[], where: Where, secret = false): readonly string[] {
  const problems = new Problems()
  for (const issue of issues) {
    for (const { path, input, message } of tellingIssues(issue))
      problems.add(() => writeProblem(where(path), input, message, secret))
  }
  return problems.list()
}

interface TellingIssue {
  readonly path: Path
  readonly input: unknown
  readonly message: string
  /** Whether only the type of the value is wrong. */
  readonly shallow: boolean
}

/**
 * The issues that help: of a union ("string or map"), those of the form that the
 * user has chosen. Why a string cannot be read helps more than that it is not a map.
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
      issue.expected === 'never' ? `is unknown; the whole ${issue.message}` : `is missing; the whole ${issue.message}`
    return [{ path, input: undefined, message, shallow }]
  }
  const message = issue.type === 'strict_object' ? `must be a map; it ${issue.message}` : issue.message
  return [{ path, input: issue.input, message, shallow }]
}

/** `storm.rate`, `fault[1]` */
export function pathText(name: string, path: Path): string {
  return excerpt(name) + path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
}

/** A value as given, in double quotes, on one line. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : asJson(value)
  const shown = excerpt(text, LONGEST_VALUE)
  return typeof value === 'string' ? JSON.stringify(shown) : `"${shown}"`
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
