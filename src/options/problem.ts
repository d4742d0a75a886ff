import type { BaseIssue } from 'valibot'
import { excerpt } from '../contract/excerpt.js'

export type Path = readonly (string | number)[]

/** Formats the place and the name of a part of a value: `petstore-sandbox.yaml:3:7: storm.rate`. */
export type Where = (path: Path) => string

const MAX_VALUE_LENGTH = 100
const MAX_PROBLEMS = 50

/** Formats a problem as one line. @param secret leaves the value out */
export function formatProblem(where: string, value: unknown, message: string, secret = false): string {
  return secret || value === undefined ? `${where}: ${message}` : `${where} ${quoted(value)}: ${message}`
}

export class Problems {
  readonly #texts: string[] = []
  #others = 0

  add(write: () => string): void {
    if (this.#texts.length < MAX_PROBLEMS) this.#texts.push(write())
    else this.#others++
  }

  list(): readonly string[] {
    return this.#others === 0 ? this.#texts : [...this.#texts, `and ${this.#others} more`]
  }
}

export function formatIssues(issues: readonly BaseIssue<unknown>[], where: Where, secret = false): readonly string[] {
  const problems = new Problems()
  for (const { path, input, message } of issues.flatMap(helpfulIssues))
    problems.add(() => formatProblem(where(path), input, message, secret))
  return problems.list()
}

interface HelpfulIssue {
  readonly path: Path
  readonly input: unknown
  readonly message: string
  readonly isShallow: boolean
}

/**
 * Of a union ("string or object"), returns the issues of the form that the user has chosen: why a string cannot be read
 * helps more than that it is not an object.
 */
export function helpfulIssues(issue: BaseIssue<unknown>): readonly HelpfulIssue[] {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const deeper = (issue.issues ?? [])
    .flatMap(helpfulIssues)
    .filter(({ isShallow }) => !isShallow)
    .map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
  if (deeper.length > 0) return deeper
  const isShallow = issue.kind === 'schema' && path.length === 0
  if (issue.type !== 'strict_object') return [{ path, input: issue.input, message: issue.message, isShallow }]
  if (path.length === 0) return [{ path, input: issue.input, message: issue.message, isShallow }]
  const what = issue.expected === 'never' ? 'is unknown' : 'is missing'
  return [{ path, input: undefined, message: `${what}; the value ${issue.message}`, isShallow }]
}

export function pathText(name: string, path: Path): string {
  return excerpt(name) + path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
}

export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(excerpt(value, MAX_VALUE_LENGTH))
  let text: string
  try {
    text = JSON.stringify(value) ?? String(value)
  } catch {
    text = String(value)
  }
  return `"${excerpt(text, MAX_VALUE_LENGTH)}"`
}
