import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../src/system/package-files.js'

/** What the documents print under one name, to be done in a project that has the package installed. */
export interface Recipe {
  /** Content by path in the project, with the first line that names it. */
  readonly files: ReadonlyMap<string, string>
  /** Blocks for a shell, in the order of the documents. */
  readonly scripts: readonly string[]
}

/** README first; a page of docs/ may continue its blocks. */
const DOCUMENTS = ['README.md', ...readdirSync(join(packageDirectory, 'docs')).map((name) => `docs/${name}`)]
/** The line that marks the block after it as part of a recipe. */
const MARKED = /^<!-- recipe: (\w+) -->\s*^```\w*[^\n]*\n(.*?)^```$/gms
/** The first line of a block that is a file. */
const FILE_NAME = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/

const BLOCKS = DOCUMENTS.filter((file) => file.endsWith('.md')).flatMap((file) =>
  [...readFileSync(join(packageDirectory, file), 'utf8').matchAll(MARKED)].map(([, name = '', code = '']) => ({
    name,
    code,
    path: FILE_NAME.exec(code)?.[1],
  })),
)

/** The recipes that the documents have. */
export const PRINTED: ReadonlySet<string> = new Set(BLOCKS.map(({ name }) => name))

/** @throws Error if no document has it */
export function recipe(name: string): Recipe {
  const blocks = BLOCKS.filter((block) => block.name === name)
  if (blocks.length === 0)
    throw new Error(`No document has the recipe ${name}: <!-- recipe: ${name} --> before a block.`)
  return {
    files: new Map(blocks.flatMap(({ path, code }) => (path === undefined ? [] : [[path, code] as const]))),
    scripts: blocks.flatMap(({ path, code }) => (path === undefined ? [code.trim()] : [])),
  }
}
