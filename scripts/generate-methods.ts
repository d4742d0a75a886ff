import { join, relative } from 'node:path'
import ts from 'typescript'
import { inputField, positionalFields, type Verb } from '../src/control/verb.js'
import type { VerbName } from '../src/control/verb-map.js'
import { VERB_ALIASES, VERBS, type VerbAlias } from '../src/control/verbs.js'
import { packageDirectory } from '../src/system/package-files.js'
import type { VerbTypes } from './verb-types.js'
import { writeGenerated } from './write-generated.js'

/** A method of the controls, by its path: `clock.advance`. */
export interface MethodRow {
  readonly path: string
  readonly verbName: VerbName
  readonly verb: Verb
  /** `clock.advance('1m')`; undefined without an input. */
  readonly example: string | undefined
  readonly given: object | undefined
  readonly isAlias: boolean
}

/** Every method, in the order of the verbs. */
export const METHODS: readonly MethodRow[] = [
  ...(Object.entries(VERBS) as readonly (readonly [VerbName, Verb])[]).map(([name, verb]) =>
    methodRow(verb.methodName ?? name, name, verb),
  ),
  ...Object.entries(VERB_ALIASES).map(([path, { of, ...alias }]) =>
    methodRow(path, of, { ...VERBS[of], example: {}, ...alias } as Verb, alias),
  ),
]

function methodRow(path: string, verbName: VerbName, verb: Verb, alias?: Omit<VerbAlias, 'of'>): MethodRow {
  const takesInput = verb.input !== undefined && (alias === undefined || alias.args !== undefined)
  return {
    path,
    verbName,
    verb,
    example: takesInput ? `${path}(${exampleArguments(verb).join(', ')})` : undefined,
    given: alias?.given ?? verb.defaults,
    isAlias: alias !== undefined,
  }
}

function exampleArguments({ example = {}, ...verb }: Verb): readonly string[] {
  const given: Record<string, unknown> = { ...example }
  const isNext = (name: string) => Object.hasOwn(given, name)
  const args = positionalFields(verb)
  const positional = args.slice(0, args.findIndex((name) => !isNext(name)) >>> 0).map((name) => {
    const value = given[name]
    delete given[name]
    return literal(value)
  })
  return Object.keys(given).length === 0 ? positional : [...positional, literal(given)]
}

function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${literal(part)}`)
  return `{ ${parts.join(', ')} }`
}

/** Writes the verbs as methods: their types, and functions that call them. */
export async function generateMethods(types: VerbTypes): Promise<void> {
  const groups = [
    ['SpaceMethods', 'spaceMethods', METHODS.filter(({ verb }) => verb.isOfSandbox !== true)],
    ['SandboxMethods', 'sandboxMethods', METHODS.filter(({ verb }) => verb.isOfSandbox === true)],
  ] as const
  const parts = groups.map(([type, name, rows]) => {
    const members = [...treeOf(rows)]
    return `
export interface ${type} {
${members.map(([, node]) => typeLines(node, types, '  ')).join('\n')}
}

export function ${name}(method: MakeMethod): ${type} {
  return {
${members.map(([member, node]) => `    ${member}: ${valueText(node, '    ')},`).join('\n')}
  }
}
`
  })
  await writeGenerated(
    'api',
    'methods.ts',
    `// Generated from the verbs by scripts/generate-methods.ts. Do not edit.

${importsFor(parts.join(''), types.program, types.checker)}
${parts.join('')}`,
  )
  const examples = METHODS.flatMap(({ path, example }) => (example === undefined ? [] : [[path, example]]))
  await writeGenerated(
    'api',
    'method-examples.ts',
    `// Generated from the verbs by scripts/generate-methods.ts. Do not edit.

export const METHOD_EXAMPLES: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(examples))}
`,
  )
}

/** A method, an object of methods, or both. */
interface Node {
  readonly name: string
  row?: MethodRow
  readonly inside: Map<string, Node>
}

function treeOf(rows: readonly MethodRow[]): ReadonlyMap<string, Node> {
  const root = new Map<string, Node>()
  for (const row of rows) {
    let inside = root
    let node: Node | undefined
    for (const name of row.path.split('.')) {
      node = inside.get(name) ?? { name, inside: new Map() }
      inside.set(name, node)
      inside = node.inside
    }
    if (node !== undefined) node.row = row
  }
  return root
}

function typeLines({ name, row, inside }: Node, types: VerbTypes, indent: string): string {
  if (inside.size === 0) return signatures(name, row as MethodRow, types, indent)
  const deeper = `${indent}  `
  const own = row === undefined ? [] : [signatures('', row, types, deeper)]
  const members = [...inside.values()].map((node) => typeLines(node, types, deeper))
  return `${indent}readonly ${name}: {\n${[...own, ...members].join('\n')}\n${indent}}`
}

function valueText({ row, inside }: Node, indent: string): string {
  const own = row === undefined ? undefined : `method(${literalMethod(row)})`
  if (inside.size === 0) return own ?? ''
  const members = [...inside].map(([name, node]) => `${indent}  ${name}: ${valueText(node, `${indent}  `)},\n`)
  const object = `{\n${members.join('')}${indent}}`
  return own === undefined ? object : `Object.assign(${own}, ${object})`
}

function literalMethod({ path, verbName, verb, given, example }: MethodRow): string {
  const parts = [
    `verb: '${verbName}'`,
    ...(path === verbName ? [] : [`name: '${path}'`]),
    ...(example === undefined ? [] : [`args: ${literal(positionalFields(verb))}`]),
    ...(given === undefined ? [] : [`given: ${literal(given)}`]),
  ]
  return `{ ${parts.join(', ')} }`
}

/** One signature for each way to pass the input: by position, by position with an object, or in one object. */
function signatures(name: string, { verbName, verb, example }: MethodRow, types: VerbTypes, indent: string): string {
  const output = typeText(types.outputs.get(verbName) as ts.Type, types.checker)
  const { summary, details } = verb
  const sentences = [`${summary}.`, ...(details === undefined ? [] : [plainText(details)])].join(' ')
  const doc = [sentences, ...(example === undefined ? [] : ['', `@example ${example}`])]
  const comment = [`${indent}/**`, ...doc.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`]
  const lists = example === undefined ? [''] : parameterLists(verbName, verb, types)
  return lists
    .flatMap((list) => [...comment, `${indent}${name}(${list.replaceAll('\n', `\n${indent}`)}): Promise<${output}>`])
    .join('\n')
}

/** Without links. */
export function plainText(markdown: string): string {
  return markdown.replace(/\[(.*?)\]\(.*?\)/g, '$1')
}

interface Field {
  readonly name: string
  readonly isOptional: boolean
  readonly type: string
  readonly about: string | undefined
}

function parameterLists(verbName: VerbName, verb: Verb, { inputs, checker }: VerbTypes): readonly string[] {
  const { body } = verb
  const args = positionalFields(verb)
  const whole = inputs.get(verbName) as ts.Type
  const properties = checker.getPropertiesOfType(whole)
  const all = properties.map((property): Field => {
    const type = typeText(checker.getTypeOfSymbol(property), checker)
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
    return { name: property.name, isOptional, type, about: inputField(verb, property.name)?.description }
  })
  const byPosition = args.flatMap((name) => all.filter((field) => field.name === name))
  const rest = all.filter(({ name }) => !args.includes(name))
  // An alias has only its own fields.
  const own = VERBS[verbName].args === verb.args ? rest : []
  const parameters = (fields: readonly Field[]) => fields.map(parameter)
  const object = (fields: readonly Field[]) => (fields.length === 0 ? [] : [objectParameter(fields)])
  if (body !== undefined) return [parameters(byPosition).join(', ')]
  const [first, ...others] = byPosition
  if (first === undefined)
    return [whole.aliasSymbol === undefined ? object(all).join('') : `input: ${typeText(whole, checker)}`]
  const required = { ...first, isOptional: false }
  return [
    object([...byPosition, ...own]).join(''),
    ...(others.length === 0 ? [] : [[parameter(required), ...object([...others, ...own])].join(', ')]),
    [...parameters(byPosition), ...object(own)].join(', '),
  ]
}

function parameter({ name, isOptional, type }: Field): string {
  return `${name === 'for' ? 'duration' : name}${isOptional ? '?' : ''}: ${type}`
}

function objectParameter(fields: readonly Field[]): string {
  const lines = fields.flatMap(({ name, isOptional, type, about }) => [
    ...(about === undefined ? [] : [`/** ${about} */`]),
    `readonly ${name}${isOptional ? '?' : ''}: ${type}`,
  ])
  const isOptional = fields.every((field) => field.isOptional)
  return `input${isOptional ? '?' : ''}: {\n${lines.map((line) => `  ${line}\n`).join('')}}`
}

function typeText(type: ts.Type, checker: ts.TypeChecker): string {
  const { NoTruncation, UseAliasDefinedOutsideCurrentScope } = ts.TypeFormatFlags
  const text = checker.typeToString(type, undefined, NoTruncation | UseAliasDefinedOutsideCurrentScope)
  return text.replace(/ \| undefined$/, '')
}

/** Imports the named types in a text, from the sources that export them. */
function importsFor(text: string, program: ts.Program, checker: ts.TypeChecker): string {
  const named = new Set(text.replace(/\/\*.*?\*\/|'[^']*'|"[^"]*"/gs, '').match(/\b[A-Z]\w+/g))
  const folder = join(packageDirectory, 'src')
  const sources = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder))
  const imports = sources.flatMap((source) => {
    const module = checker.getSymbolAtLocation(source)
    const exported = module === undefined ? [] : [...(module.exports?.values() ?? [])]
    const found = exported.filter(
      ({ name, declarations }) => named.has(name) && !declarations?.some(ts.isExportSpecifier),
    )
    for (const { name } of found) named.delete(name)
    const path = relative(join(folder, 'api/generated'), source.fileName).replace(/\.ts$/, '.js')
    return found.length === 0
      ? []
      : [
          `import type { ${found
            .map(({ name }) => name)
            .sort()
            .join(', ')} } from '${path}'`,
        ]
  })
  return [...imports, "import type { MakeMethod } from '../call-verb.js'"].sort().join('\n')
}
