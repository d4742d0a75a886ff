import { realpath, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Document } from 'yaml'
import type { Environment } from '../system/environment.js'
import { makeFolder } from '../system/make-folder.js'
import { openingProblem, PRIVATE_FILE, readRegularFile } from '../system/regular-file.js'
import { loadYaml } from '../system/yaml.js'
import { readBaseAddress, shownAddress } from './base-address.js'
import { TargetError } from './target-error.js'

/** What is stored for a target: never a key, only where it is. */
export interface KeptTarget {
  readonly baseUrl?: string
  /** Absolute. */
  readonly apiKeyFile?: string
}

export interface TargetConfig {
  /** The default target. */
  readonly use?: string
  readonly targets: ReadonlyMap<string, KeptTarget>
}

/** The target that is used only when named. */
export const PRODUCTION = 'production'

const EMPTY: TargetConfig = { targets: new Map() }
const TARGET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const HEAD = ' Targets of petstore-sandbox, kept by "petstore-sandbox target". A key stays in a file of its own.'

/** Where the targets are kept. A relative XDG_CONFIG_HOME is ignored. @source XDG Base Directory Specification 0.8 */
export function targetConfigFile({ XDG_CONFIG_HOME = '', HOME = '' }: Environment): string {
  const home = isAbsolute(HOME) ? HOME : homedir()
  const base = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, '.config')
  return join(base, 'petstore-sandbox', 'config.yaml')
}

/** @returns what is wrong with a target's name, undefined if nothing is */
export function problemOfName(name: string): string | undefined {
  return TARGET_NAME.test(name) ? undefined : 'must be up to 64 letters, digits, dots, dashes and underscores'
}

/**
 * Reads the stored targets; none if there is no file. yaml is loaded only if there is one.
 *
 * @throws TargetError INVALID_CONFIG, with file and line
 */
export async function readTargetConfig(env: Environment): Promise<TargetConfig> {
  const file = targetConfigFile(env)
  const text = textOf(file)
  return text === undefined ? EMPTY : parse(file, text).config
}

/** A change to one target, or to the default. */
export interface TargetChange {
  /** Null removes it. */
  readonly use?: string | null
  readonly target?: { readonly name: string; readonly kept: KeptTarget | null }
}

/**
 * Changes the stored targets. Comments in the file stay. It is replaced as a whole or not
 * at all, and only its owner may read it.
 *
 * @throws TargetError INVALID_CONFIG, CANNOT_WRITE
 */
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
    throw new TargetError('INVALID_CONFIG', `${file}: cannot be read (${openingProblem(error)})`, { cause: error })
  }
}

function parse(file: string, text: string): { readonly document: Document; readonly config: TargetConfig } {
  const yaml = loadYaml()
  const lines = new yaml.LineCounter()
  const document: Document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const invalid = (offset: number | undefined, problem: string) => {
    const { line, col } = lines.linePos(offset ?? 0)
    return new TargetError('INVALID_CONFIG', `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}: ${problem}`)
  }
  const offsetOf = (node: unknown) => (yaml.isNode(node) ? node.range?.[0] : undefined)
  const [broken] = [...document.errors, ...document.warnings]
  if (broken !== undefined) throw invalid(broken.pos[0], `is not valid YAML: ${broken.message.split(/[\n;]/, 1)[0]}`)

  /** The entries of a map, of which each name must be one of these, if there are any. */
  const entriesOf = (node: unknown, what: string, names?: readonly string[]) => {
    if (node === null || (yaml.isScalar(node) && node.value === null)) return []
    if (!yaml.isMap(node)) throw invalid(offsetOf(node), `${what} must be a map`)
    return node.items.map(({ key, value }) => {
      const name = yaml.isScalar(key) ? String(key.value) : String(key)
      if (names !== undefined && !names.includes(name)) {
        throw invalid(offsetOf(key), `${JSON.stringify(name)} is unknown; expected ${names.join(' and ')}`)
      }
      return { name, key, value }
    })
  }
  const textIn = (node: unknown, name: string) => {
    if (yaml.isScalar(node) && typeof node.value === 'string' && node.value !== '') return node.value
    throw invalid(offsetOf(node), `${name} must be a string`)
  }

  let use: { readonly name: string; readonly node: unknown } | undefined
  const targets = new Map<string, KeptTarget>()
  for (const { name, value } of entriesOf(document.contents, 'the file', ['use', 'targets'])) {
    if (name === 'use') use = { name: textIn(value, name), node: value }
    else {
      for (const target of entriesOf(value, name)) {
        const problem = problemOfName(target.name)
        if (problem !== undefined) throw invalid(offsetOf(target.key), `${JSON.stringify(target.name)}: ${problem}`)
        const kept: { baseUrl?: string; apiKeyFile?: string } = {}
        for (const entry of entriesOf(target.value, target.name, ['base-url', 'api-key-file'])) {
          const text = textIn(entry.value, entry.name)
          if (entry.name === 'api-key-file') kept.apiKeyFile = resolve(dirname(file), text)
          else {
            const read = readBaseAddress(text)
            if ('problem' in read) throw invalid(offsetOf(entry.value), `${shownAddress(text)}: ${read.problem}`)
            kept.baseUrl = read.baseUrl
          }
        }
        targets.set(target.name, kept)
      }
    }
  }
  if (use?.name === PRODUCTION) throw invalid(offsetOf(use.node), 'production cannot be the default target')
  return { document, config: { ...(use === undefined ? {} : { use: use.name }), targets } }
}

/** Follows links: such files are often kept elsewhere and linked. */
async function replaceFile(file: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(file))
    const place = await realpath(file).catch(() => file)
    const draft = `${place}.${process.pid}`
    try {
      await rm(draft, { force: true })
      await writeFile(draft, text, { mode: PRIVATE_FILE, flag: 'wx' })
      await rename(draft, place)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new TargetError('CANNOT_WRITE', `${file}: cannot be written (${code}). It was left unchanged.`, {
      cause: error,
    })
  }
}
