import { type Node, parseJson } from './json.js'

/** The build makes both forms. They are loaded on demand. */
export async function packagedText(format: 'yaml' | 'json'): Promise<string> {
  return (await import('./generated/contract-text.js'))[format]
}

export async function packagedDocument(): Promise<Node> {
  return parseJson(await packagedText('json')) as Node
}
