import type { KeyHeader } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'
import { curlCommand, KEY_REFERENCE, shellCommand, shellWord } from '../domain/curl.js'
import { toKebabCase } from '../options/letter-case.js'

type Headers = readonly (readonly [name: string, value: string])[]

export interface CodeRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** `KEY_REFERENCE` for the key in the environment; undefined without a key. */
  readonly key: string | undefined
  readonly keyHeader: KeyHeader
  readonly body: string | undefined
  /** Undefined for an unknown operation. */
  readonly operation: OperationFacts | undefined
  readonly baseUrl: string
}

export interface OperationFacts {
  readonly id: string
  readonly path: string
}

export const CODE_FORMS = {
  curl: ({ method, url, headers, key, keyHeader, body }: CodeRequest) =>
    curlCommand({
      method,
      url,
      headers: key === undefined ? headers : [[keyHeader.name, key], ...headers],
      body,
      keyHeaders: [keyHeader],
      ...(key === undefined ? {} : { key }),
    }),
  fetch: ({ method, url, headers, key, keyHeader: { name: keyName, prefix }, body }: CodeRequest) => {
    const sentKey = key === KEY_REFERENCE ? `\`${prefix}\${process.env.PETSTORE_API_KEY}\`` : quoted(prefix + key)
    const lines = [
      ...(key === undefined ? [] : [`    ${quoted(keyName)}: ${sentKey},`]),
      ...headers.map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`),
    ]
    const options = [
      ...(method === 'GET' ? [] : [`  method: ${quoted(method)},`]),
      ...(lines.length === 0 ? [] : ['  headers: {', ...lines, '  },']),
      ...(body === undefined ? [] : [`  body: ${quoted(body)},`]),
    ]
    const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`
    return `const response = await fetch(${quoted(url)}${given})\nconsole.log(response.status, await response.text())`
  },
  call: ({ url, key, body, operation, baseUrl }: CodeRequest) => {
    if (operation === undefined)
      return '# call only sends operations of the contract, and this request does not match any.'
    const { pathname, searchParams } = new URL(url)
    const parts = pathname.slice(new URL(baseUrl).pathname.replace(/\/$/, '').length).split('/')
    const inPath = parts.filter((_, index) => operation.path.split('/')[index]?.startsWith('{')).map(decodePercent)
    const flags = [...searchParams].flatMap(([name, value]) => [`--${toKebabCase(name)}`, value])
    const given = body === undefined ? [] : ['--body', body]
    const words = ['call', operation.id, ...inPath, ...flags, ...given, '--base-url', baseUrl]
    const variable = key === undefined || key === KEY_REFERENCE ? '' : `PETSTORE_API_KEY=${shellWord(key)} `
    return variable + shellCommand('petstore-sandbox', ...words)
  },
} satisfies Record<string, (request: CodeRequest) => string>

export function codeForms<Name extends keyof typeof CODE_FORMS>(request: CodeRequest, ...names: readonly Name[]) {
  const forms = names.map((name) => [name, () => CODE_FORMS[name](request)] as const)
  return Object.fromEntries(forms) as Record<Name, () => string>
}

const quoted = (text: string) => JSON.stringify(text)
