import type { Document, Node, Pair } from 'yaml'
import { yamlMistake } from '../contract/yaml-mistakes.js'
import { messageOf } from '../system/message-of.js'
import { loadYaml } from '../system/runtime.js'
import { toCamelCase } from './letter-case.js'
import { type Path, pathText, quoted } from './problem.js'

/** A file of options has some lines; megabytes would take minutes to parse. */
const MAX_CHARACTERS = 256_000
/** Larger files have too many characters in any encoding, and are not read. */
export const MAX_OPTIONS_FILE_BYTES = 4 * MAX_CHARACTERS
const MAX_MISTAKES = 20

export interface YamlMap {
  readonly entries: readonly (readonly [string, unknown])[]
  /** Location and name of an entry, or of a part of its value: `petstore-sandbox.yaml:3:7: storm.rate`. */
  where(key: string, path: Path): string
}

/** @param file name of the file in problems @returns the map, or the problems with their places */
export function readYamlMap(text: string, file: string): YamlMap | { readonly problems: readonly string[] } {
  if (text.length > MAX_CHARACTERS)
    return { problems: [`${file}: is larger than ${MAX_CHARACTERS / 1000} kB, the limit for a file of options`] }
  const yaml = loadYaml()
  const lines = new yaml.LineCounter()
  const document: Document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const place = (offset = 0) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const mistakes = [...document.errors, ...document.warnings]
    .slice(0, MAX_MISTAKES)
    .map((mistake) => `${place(mistake.pos[0])}: is not valid YAML: ${yamlMistake(mistake)}`)
  if (mistakes.length > 0) return { problems: mistakes }
  const root = document.contents
  if (root === null || (yaml.isScalar(root) && root.value === null))
    return { entries: [], where: (key) => `${file}: ${key}` }
  if (!yaml.isMap(root)) {
    const problem = `${quoted(root.toString())} must be an object of option names and values`
    return { problems: [`${place(root.range?.[0])}: ${problem}`] }
  }

  const children = (node: unknown): readonly Pair[] => {
    const target = yaml.isAlias(node) ? node.resolve(document) : node
    if (yaml.isSeq(target)) return target.items.map((value, index) => new yaml.Pair(index, value))
    return yaml.isMap(target) ? target.items : []
  }
  const nodeAt = (path: Path): Node | undefined => {
    let found: unknown = root
    for (const [depth, part] of path.entries()) {
      const isNamed = (name: string) => name === part || (depth > 0 && toCamelCase(name) === part)
      const pair = children(found).find(({ key }) => (typeof key === 'number' ? key === part : isNamed(String(key))))
      if (pair === undefined) break
      const value = depth === 0 && path.length === 1 ? pair.key : pair.value
      found = yaml.isNode(value) && value.range ? value : found
    }
    return yaml.isNode(found) ? found : undefined
  }
  try {
    return {
      entries: root.items.map(({ key, value }) => [String(key), yaml.isNode(value) ? value.toJS(document) : value]),
      where: (key, path) => `${place(nodeAt([key, ...path])?.range?.[0])}: ${pathText(key, path)}`,
    }
  } catch (error) {
    // yaml stops resolving nested aliases.
    const why = error instanceof ReferenceError ? 'it has too many aliases' : messageOf(error)
    return { problems: [`${file}: cannot be read: ${why}`] }
  }
}
