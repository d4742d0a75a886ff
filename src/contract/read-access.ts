import { type ContractData, DEFAULT_BASE_PATH } from './contract-data.js'

type Access = Pick<ContractData, 'basePath' | 'notes'>

/** How clients reach the service, and what of the document the sandbox replaces. @source docs/spec.md, "Address and keys" */
export function readAccess([server]: ContractData['servers']): Access {
  const path = server === undefined ? DEFAULT_BASE_PATH : pathOf(server.url)
  if (path !== undefined) return { basePath: path, notes: [] }
  const note = `The server ${JSON.stringify(server?.url)} has no usable path. Without --base-path, the sandbox serves under ${DEFAULT_BASE_PATH}.`
  return { basePath: DEFAULT_BASE_PATH, notes: [note] }
}

const PATH = /^(?:\/(?!__sandbox(?:\/|$))[\w.~!$&'()*+,;=:@-]+)*$/

function pathOf(url: string): string | undefined {
  const base = 'http://sandbox'
  if (/[{}]/.test(url) || !URL.canParse(url, base)) return undefined
  const path = new URL(url, base).pathname.replace(/\/+$/, '')
  return PATH.test(path) ? path : undefined
}
