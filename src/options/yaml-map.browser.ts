import type { Path } from './problem.js'

export const MAX_OPTIONS_FILE_BYTES: number = 0

export interface YamlMap {
  readonly entries: readonly (readonly [string, unknown])[]
  where(key: string, path: Path): string
}

export function readYamlMap(..._given: readonly unknown[]): YamlMap | { readonly problems: readonly string[] } {
  throw new Error('A browser has no files.')
}
