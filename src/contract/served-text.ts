import { loadYaml } from '../system/yaml.js'
import type { Contract } from './contract.js'
import { isNode } from './document.js'
import { parseJson, stringifyJson } from './json.js'

type Format = 'yaml' | 'json'

/** The list of servers as documents mostly have it: a name at the beginning of a line, and an entry on one of its own. */
const SERVERS = /^servers:[ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*([ \t]*)(?=- )/m
const PATHS = /^(?=paths:)/m
const ANY_SERVERS = /^(?:servers|"servers"|'servers')[ \t]*:/m

/**
 * Makes the function that gives a contract as it is served: the sandbox that serves it is
 * its first server, since generated clients take that one. In YAML all else stays as it was
 * written, comments too, where the list of servers can be found by its line.
 */
export function servedText(contract: Contract): (format: Format, baseUrl: string) => Promise<string> {
  // Asked for by the same name as before, mostly; a large document takes a second to be written.
  const last = new Map<Format, { readonly baseUrl: string; readonly text: string }>()
  return async (format, baseUrl) => {
    const known = last.get(format)
    if (known?.baseUrl === baseUrl) return known.text
    const text = await (format === 'yaml' ? yamlText(contract, baseUrl) : jsonText(contract, baseUrl))
    last.set(format, { baseUrl, text })
    return text
  }
}

async function jsonText(contract: Contract, baseUrl: string): Promise<string> {
  return stringifyJson(await documentOf(contract, baseUrl), 2)
}

async function yamlText(contract: Contract, baseUrl: string): Promise<string> {
  const text = await contract.text('yaml')
  const entry = (indent: string) => `${indent}- url: ${JSON.stringify(baseUrl)}\n${indent}  description: This sandbox\n`
  const list = SERVERS.exec(text)
  if (list !== null) {
    const [start, indent = ''] = list
    const at = list.index + start.length - indent.length
    return text.slice(0, at) + entry(indent) + text.slice(at)
  }
  if (!ANY_SERVERS.test(text) && PATHS.test(text)) return text.replace(PATHS, () => `servers:\n${entry('  ')}`)
  return loadYaml().stringify(await documentOf(contract, baseUrl))
}

async function documentOf(contract: Contract, baseUrl: string): Promise<object> {
  const document = Object(parseJson(await contract.text('json')))
  const others: readonly unknown[] = Array.isArray(document.servers) ? document.servers : []
  const servers = [
    { url: baseUrl, description: 'This sandbox' },
    ...others.filter((server) => !isNode(server) || server.url !== baseUrl),
  ]
  // In its place if it has one; else before what is long.
  return 'servers' in document ? { ...document, servers } : withBefore(document, 'paths', 'servers', servers)
}

function withBefore(document: object, name: string, added: string, value: unknown): object {
  const entries = Object.entries(document)
  const at = entries.findIndex(([key]) => key === name)
  return Object.fromEntries(entries.toSpliced(at === -1 ? entries.length : at, 0, [added, value]))
}
