import type { Document, Node, Pair } from 'yaml'
import { findRepeatedKey, yamlMistake } from '../contract/yaml-mistakes.js'
import { messageOf } from '../system/message-of.js'
import { loadYaml } from '../system/yaml.js'
import { toCamelCase } from './letter-case.js'
import { type Path, pathText, quoted } from './problem.js'

/** A file of options has some lines; one of megabytes would take minutes. */
const MOST_CHARACTERS = 256_000
/** What is larger has too many characters in any encoding; it is refused before it is read. */
export const LARGEST_OPTIONS_FILE = 4 * MOST_CHARACTERS
/** A file that is no YAML at all has a mistake on each of its lines. */
const MOST_TOLD = 20

/** A YAML file with a map: its entries and where each one is. */
export interface YamlMap {
  readonly entries: readonly (readonly [string, unknown])[]
  /** Location and name of an entry, or of a part of its value: `petstore-sandbox.yaml:3:7: storm.rate`. */
  where(key: string, path: Path): string
}

/**
 * Reads a text as a YAML map.
 *
 * @param file how the file is named in problems
 * @returns the map, or what is wrong with it, each with its place
 */
export function readYamlMap(text: string, file: string): YamlMap | { readonly problems: readonly string[] } {
  if (text.length > MOST_CHARACTERS) {
    return { problems: [`${file}: is larger than ${MOST_CHARACTERS / 1000} kB, which no file of options is`] }
  }
  const yaml = loadYaml()
  const lines = new yaml.LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false }
  const document: Document = yaml.parseDocument(text, options)
  const repeated = document.errors.length > 0 ? undefined : findRepeatedKey(yaml, document)
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }

  const broken = [...document.errors, ...document.warnings]
  if (broken.length > 0) {
    return {
      problems: broken
        .slice(0, MOST_TOLD)
        .map(({ pos, message }) => `${place(pos[0])}: is not valid YAML: ${firstSentence(yamlMistake(message))}`),
    }
  }
  if (repeated !== undefined) return { problems: [`${place(repeated)}: is not valid YAML: Map keys must be unique`] }
  const root = document.contents
  if (root === null || (yaml.isScalar(root) && root.value === null))
    return { entries: [], where: (key) => `${file}: ${key}` }
  if (!yaml.isMap(root)) {
    return {
      problems: [`${place(root.range?.[0] ?? 0)}: ${quoted(root.toString())} must be a map of option names and values`],
    }
  }

  const children = (node: unknown): readonly Pair[] => {
    const target = yaml.isAlias(node) ? node.resolve(document) : node
    if (yaml.isSeq(target)) return target.items.map((value, index) => new yaml.Pair(index, value))
    return yaml.isMap(target) ? target.items : []
  }
  const nodeAt = (path: Path): Node | undefined => {
    let found: unknown = root
    for (const [depth, part] of path.entries()) {
      const names = (name: string) => (depth === 0 ? name === part : name === part || toCamelCase(name) === part)
      const pair = children(found).find(({ key }) => (typeof key === 'number' ? key === part : names(String(key))))
      if (pair === undefined) break
      const value = depth === 0 && path.length === 1 ? pair.key : pair.value
      found = yaml.isNode(value) && value.range ? value : found
    }
    return yaml.isNode(found) ? found : undefined
  }
  try {
    return {
      entries: root.items.map(({ key, value }) => [String(key), yaml.isNode(value) ? value.toJS(document) : value]),
      where: (key, path) => `${place(nodeAt([key, ...path])?.range?.[0] ?? 0)}: ${pathText(key, path)}`,
    }
  } catch (error) {
    // Aliases of aliases of aliases: yaml stops unfolding them.
    return {
      problems: [`${file}: cannot be read: ${firstSentence(messageOf(error))}`],
    }
  }
}

/** The part meant for users; the rest names functions of the library. */
function firstSentence(text: string): string {
  return text.split(/[\n;]/, 1)[0] ?? ''
}
