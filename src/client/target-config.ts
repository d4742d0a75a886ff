import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import * as v from 'valibot'
import type { Document } from 'yaml'
import { yamlMistake } from '../contract/yaml-mistakes.js'
import { readBaseAddress, shownAddress } from '../domain/base-address.js'
import {
  describeOpenError,
  makeFolder,
  readRegularFile,
  realPath,
  replaceFile as writeReplacement,
} from '../system/regular-file.js'
import { loadYaml } from '../system/runtime.js'
import type { Environment } from '../system/this-process.js'
import { TargetError } from './errors.js'

export interface StoredTarget {
  readonly baseUrl?: string
  readonly apiKeyFile?: string
}

export interface TargetConfig {
  readonly use?: string
  readonly targets: ReadonlyMap<string, StoredTarget>
}

/** The target that is used only when named. */
export const PRODUCTION = 'production'

const HEAD = ' Targets of petstore-sandbox, kept by "petstore-sandbox target". A key stays in a file of its own.'
const NAME_FORM = 'must be up to 64 letters, digits, dots, dashes and underscores'
const nameSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, NAME_FORM))
const textSchema = v.pipe(v.string('must be a string'), v.nonEmpty('must be a string'))
const addressSchema = v.pipe(
  textSchema,
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const read = readBaseAddress(dataset.value)
    if ('value' in read) return read.value
    addIssue({ message: `${shownAddress(dataset.value)} ${read.problem}` })
    return NEVER
  }),
)
const targetSchema = v.strictObject(
  { 'base-url': v.optional(addressSchema), 'api-key-file': v.optional(textSchema) },
  ({ expected }) => (expected === 'never' ? 'is unknown; expected base-url and api-key-file' : 'must be an object'),
)
const configSchema = v.strictObject(
  {
    use: v.optional(v.pipe(textSchema, v.notValue(PRODUCTION, 'production cannot be the default target'))),
    targets: v.nullish(v.record(nameSchema, v.nullish(targetSchema, {}), 'must be an object'), {}),
  },
  ({ expected }) => (expected === 'never' ? 'is unknown; expected use and targets' : 'the file must be an object'),
)

/** Where the targets are kept. A relative XDG_CONFIG_HOME is ignored. @source XDG Base Directory Specification 0.8 */
export function targetConfigFile({ XDG_CONFIG_HOME = '', HOME = '' }: Environment): string {
  const home = isAbsolute(HOME) ? HOME : homedir()
  const base = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, '.config')
  return join(base, 'petstore-sandbox', 'config.yaml')
}

export function nameProblem(name: string): string | undefined {
  return v.is(nameSchema, name) ? undefined : NAME_FORM
}

/** @throws TargetError INVALID_CONFIG, with file and line */
export async function readTargetConfig(env: Environment): Promise<TargetConfig> {
  const file = targetConfigFile(env)
  const text = textOf(file)
  return text === undefined ? { targets: new Map() } : parse(file, text).config
}

export interface TargetChange {
  /** Null removes it. */
  readonly use?: string | null
  readonly target?: { readonly name: string; readonly kept: StoredTarget | null }
}

/** Keeps comments, and replaces the file atomically. @throws TargetError INVALID_CONFIG, CANNOT_WRITE */
export async function changeTargetConfig(env: Environment, { use, target }: TargetChange): Promise<void> {
  const file = targetConfigFile(env)
  const { document } = parse(file, textOf(file) ?? '')
  // An empty document may parse to null, which cannot hold a map.
  if (document.toJS() === null) {
    document.contents = null
    document.commentBefore ??= HEAD
  }
  if (target?.kept === null) document.deleteIn(['targets', target.name])
  else if (target !== undefined) {
    const { baseUrl, apiKeyFile } = target.kept
    put(document, ['targets', target.name, 'base-url'], baseUrl)
    put(document, ['targets', target.name, 'api-key-file'], apiKeyFile)
  }
  if (use !== undefined) put(document, ['use'], use ?? undefined)
  await replaceFile(file, document.toString({ lineWidth: 0 }))
}

function put(document: Document, path: readonly string[], value: string | undefined): void {
  // A name without a value holds null, not a map.
  for (const depth of [1, 2]) {
    const above = path.slice(0, -depth)
    if (above.length > 0 && document.getIn(above) === null) document.deleteIn(above)
  }
  if (value !== undefined) document.setIn(path, value)
  else if (document.hasIn(path)) document.deleteIn(path)
}

function textOf(file: string): string | undefined {
  try {
    return readRegularFile(file).toString()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new TargetError('INVALID_CONFIG', `${file}: cannot be read (${describeOpenError(error)})`, { cause: error })
  }
}

function parse(file: string, text: string): { readonly document: Document; readonly config: TargetConfig } {
  const yaml = loadYaml()
  const lines = new yaml.LineCounter()
  const document: Document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const invalid = (offset: number, problem: string) => {
    const { line, col } = lines.linePos(offset)
    return new TargetError('INVALID_CONFIG', `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}: ${problem}`)
  }
  const [broken] = [...document.errors, ...document.warnings]
  if (broken !== undefined) throw invalid(broken.pos[0], `is not valid YAML: ${yamlMistake(broken)}`)
  const root: unknown = document.toJS() ?? {}
  // For valibot a list is also an object.
  const read = v.safeParse(configSchema, Array.isArray(root) ? undefined : root)
  if (!read.success) {
    const [{ path = [], message }] = read.issues
    const keys = path.map(({ key }) => String(key))
    const above = keys.length < 2 ? document.contents : document.getIn(keys.slice(0, -1), true)
    const pair = yaml.isMap(above) ? above.items.find(({ key }) => String(key) === keys.at(-1)) : undefined
    const offset = yaml.isNode(pair?.key) ? pair.key.range?.[0] : document.contents?.range?.[0]
    throw invalid(offset ?? 0, [keys.join('.'), message].join(' ').trim())
  }
  const { use, targets } = read.output
  const kept = Object.entries(targets ?? {}).map(([name, one]): [string, StoredTarget] => {
    const { 'base-url': baseUrl, 'api-key-file': keyFile } = one ?? {}
    return [
      name,
      {
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(keyFile === undefined ? {} : { apiKeyFile: resolve(dirname(file), keyFile) }),
      },
    ]
  })
  return { document, config: { ...(use === undefined ? {} : { use }), targets: new Map(kept) } }
}

/** Follows links: configuration is often linked from elsewhere. */
async function replaceFile(file: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(file))
    writeReplacement(realPath(file), text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = `${file}: cannot be written (${code}). It was left unchanged.`
    throw new TargetError('CANNOT_WRITE', message, { cause: error })
  }
}
