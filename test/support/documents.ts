import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { packageDirectory } from '../../src/system/package-files.js'

export interface Document {
  /** Relative to the package's folder, with forward slashes. */
  readonly file: string
  readonly text: string
}

export type Row = readonly string[]

/** A fenced block of code. */
export interface Block {
  readonly language: string
  /** Text after the language: how the block is run. */
  readonly marker: string
  readonly code: string
  /** Text since the previous block. */
  readonly before: string
}

export function readDocument(file: string): Document {
  return { file, text: readFileSync(join(packageDirectory, file), 'utf8') }
}

export function documentsIn(folder: string, wanted: RegExp): readonly Document[] {
  return readdirSync(join(packageDirectory, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((file) => wanted.test(file) && !file.includes('node_modules'))
    .map(readDocument)
}

/** README, docs/ without decisions, and the skill. */
export const GUIDES: readonly Document[] = [
  readDocument('README.md'),
  readDocument('skills/petstore-sandbox/SKILL.md'),
  ...documentsIn('docs', /^docs\/[^/]+\.md$/),
]

/** Text by heading, up to the next heading of any level. */
export function sectionsOf({ text }: Document): ReadonlyMap<string, string> {
  const [, ...sections] = withoutCode(text).split(/^#{1,6} /m)
  return new Map(sections.map((section) => [plain(section.split('\n', 1)[0] ?? ''), section]))
}

/** @throws Error if the section is missing */
export function sectionOf(document: Document, heading: string): string {
  const section = sectionsOf(document).get(heading)
  if (section === undefined) throw new Error(`${document.file} has no heading "${heading}"`)
  return section
}

export function firstCellsOf({ text }: Document): ReadonlySet<string> {
  return new Set([...text.matchAll(/^\| (.*?) \|/gm)].map(([, cell = '']) => plain(cell)))
}

/** The rows of each table, without its head. */
export function tablesOf(text: string): readonly (readonly Row[])[] {
  return [...withoutCode(text).matchAll(/^\|.*\n\| ?:?-.*\n((?:\|.*\n)*)/gm)].map(([, rows = '']) =>
    rows.trimEnd().split('\n').map(cellsOf),
  )
}

function cellsOf(row: string): Row {
  return row
    .slice(1, row.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

export function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

export function blocksOf({ text }: Document): readonly Block[] {
  let end = 0
  return [...text.matchAll(/^```(\w*) ?([^\n]*)\n(.*?)^```$/gms)].map((match) => {
    const [whole, language = '', marker = '', code = ''] = match
    const before = text.slice(end, match.index)
    end = match.index + whole.length
    return { language, marker, code, before }
  })
}

export function plain(text: string): string {
  return text.replaceAll('`', '').trim()
}

function withoutCode(text: string): string {
  return text.replace(/^```.*?^```$/gms, '')
}
