import { packageText } from '../system/package-files.js'
import { type Node, stringifyJson } from './json.js'

export async function packagedText(format: 'yaml' | 'json'): Promise<string> {
  const text = packageText('openapi.yaml')
  if (format === 'yaml') return text
  return stringifyJson(await packagedDocument(), 2)
}

export async function packagedDocument(): Promise<Node> {
  const { parseDocument } = await import('./parse-document.js')
  // It has the normal form.
  return parseDocument('openapi.yaml', packageText('openapi.yaml')) as Node
}
