import { type Path, pathText } from './problem.js'

export const LARGEST_OPTIONS_FILE: number = 0

interface YamlMap {
  readonly entries: readonly (readonly [string, unknown])[]
  where(key: string, path: Path): string
}

/** Of the package's own scenarios, which the build has made JSON of: nobody names another file in a browser. */
export function readYamlMap(text: string, file: string): YamlMap | { readonly problems: readonly string[] } {
  return { entries: Object.entries(JSON.parse(text)), where: (key, path) => `${file}: ${pathText(key, path)}` }
}
