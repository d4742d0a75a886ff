import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'

/** Prints the lines of code by folder: TypeScript without generated files, comments and blank lines. */
const ROOTS = ['src', 'scripts', 'test']

for (const root of ROOTS) {
  const counts = new Map<string, number>()
  for (const file of filesIn(root)) {
    const [folder = ''] = relative(root, file).split('/')
    const name = relative(root, file).includes('/') ? `${root}/${folder}` : root
    counts.set(name, (counts.get(name) ?? 0) + linesOfCode(readFileSync(file, 'utf8')))
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  for (const [name, count] of [...counts].sort()) process.stdout.write(`${String(count).padStart(7)}  ${name}\n`)
  process.stdout.write(`${String(total).padStart(7)}  all of ${root}\n\n`)
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(?:generated|node_modules|projects)$/.test(entry.name) ? [] : filesIn(path)
    return /\.tsx?$/.test(entry.name) ? [path] : []
  })
}

/** The lines that have a token. */
function linesOfCode(text: string): number {
  const source = ts.createSourceFile('file.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const lines = new Set<number>()
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source)
    for (const child of children) if (!ts.isJSDoc(child)) visit(child)
    if (children.length > 0 || node.getWidth(source) === 0) return
    const from = source.getLineAndCharacterOfPosition(node.getStart(source)).line
    const to = source.getLineAndCharacterOfPosition(node.getEnd()).line
    for (let line = from; line <= to; line++) lines.add(line)
  }
  visit(source)
  return lines.size
}
