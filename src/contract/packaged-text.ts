import { packageText } from '../system/package-files.js'
import { stringifyJson } from './json.js'

export async function packagedText(format: 'yaml' | 'json'): Promise<string> {
  const text = packageText('openapi.yaml')
  if (format === 'yaml') return text
  const { parseDocument } = await import('./parse-document.js')
  return stringifyJson(await parseDocument('openapi.yaml', text), 2)
}
