import { loadYaml } from '../system/runtime.js'
import type { Contract } from './contract.js'
import { isNode } from './document.js'
import { parseJson, stringifyJson } from './json.js'

type Format = 'yaml' | 'json'

/** A list of servers in block style. */
const SERVERS = /^servers:[ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*([ \t]*)(?=- )/m
const PATHS = /^(?=paths:)/m
const ANY_SERVERS = /^(?:servers|"servers"|'servers')[ \t]*:/m

/** Lists this sandbox as the first server. YAML keeps its comments if the list of servers can be found by its line. */
export function servedText(contract: Contract): (format: Format, baseUrl: string) => Promise<string> {
  // Writing a large document takes a second.
  const last = new Map<Format, { readonly baseUrl: string; readonly text: string }>()
  return async (format, baseUrl) => {
    const known = last.get(format)
    if (known?.baseUrl === baseUrl) return known.text
    const text =
      format === 'yaml' ? await yamlText(contract, baseUrl) : stringifyJson(await documentOf(contract, baseUrl), 2)
    last.set(format, { baseUrl, text })
    return text
  }
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
  return writeYaml(await documentOf(contract, baseUrl))
}

/** Writing more takes a second. */
const MAX_BLOCK_CHARACTERS = 1_000_000

/** JSON for a large document: it is YAML that is written at once. */
export function writeYaml(document: unknown): string {
  const json = stringifyJson(document, 2)
  return json.length > MAX_BLOCK_CHARACTERS ? json : loadYaml().stringify(document)
}

async function documentOf(contract: Contract, baseUrl: string): Promise<object> {
  const document = Object(parseJson(await contract.text('json')))
  const others: readonly unknown[] = Array.isArray(document.servers) ? document.servers : []
  const servers = [
    { url: baseUrl, description: 'This sandbox' },
    ...others.filter((server) => !isNode(server) || server.url !== baseUrl),
  ]
  if ('servers' in document) return { ...document, servers }
  return { openapi: document.openapi, info: document.info, servers, ...document }
}
