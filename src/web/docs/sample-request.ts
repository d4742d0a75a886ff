import { stringifyJson } from '../../contract/json.js'
import { curlCommand, shellWord } from '../../domain/curl.js'
import { type ContractModel, mapOf, type OperationModel } from './contract-model.js'
import { sampleOf } from './schema-words.js'

/** What was filled in for an operation. */
export interface Inputs {
  /** By name; what is empty is not sent. */
  readonly parameters: Readonly<Record<string, string>>
  readonly body: string
}

/** A request that is ready to be sent. */
export interface SampleRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | undefined
}

/** What an operation begins with: what is required is filled in, by the contract's examples where there are some. */
export function firstInputs(contract: ContractModel, { parameters, body }: OperationModel): Inputs {
  const filled = parameters.map(({ name, isRequired, example, schema }) => {
    const value = example ?? sampleOf(contract, schema)
    return [name, isRequired ? plainText(value) : ''] as const
  })
  const example = body?.examples[0]?.value ?? (body === undefined ? undefined : sampleOf(contract, body.schema))
  return {
    parameters: Object.fromEntries(filled),
    body: example === undefined ? '' : (stringifyJson(example, 2) ?? ''),
  }
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (stringifyJson(value) ?? '')
}

/**
 * The request of an operation.
 *
 * @param baseUrl of the service
 * @param key     with its space, empty for none
 */
export function requestOf(
  { method, path, parameters, body }: OperationModel,
  inputs: Inputs,
  { baseUrl, key, prefer }: { readonly baseUrl: string; readonly key: string; readonly prefer?: string | undefined },
): SampleRequest {
  const value = (name: string) => inputs.parameters[name] ?? ''
  const query = new URLSearchParams(
    parameters
      .filter(({ in: place, name }) => place === 'query' && value(name) !== '')
      .map(({ name }): [string, string] => [name, value(name)]),
  ).toString()
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)))
  return {
    method,
    url: `${baseUrl}${filled}${query === '' ? '' : `?${query}`}`,
    headers: [
      ...(key === '' ? [] : [['Authorization', `Bearer ${key}`] as const]),
      ...(body === undefined || inputs.body === '' ? [] : [['Content-Type', body.mediaType] as const]),
      ...(prefer === undefined ? [] : [['Prefer', prefer] as const]),
      ...parameters
        .filter(({ in: place, name }) => place === 'header' && value(name) !== '')
        .map(({ name }) => [name, value(name)] as const),
    ],
    body: body === undefined || inputs.body === '' ? undefined : inputs.body,
  }
}

/** A request in a language; each can be run as it is copied. */
export const LANGUAGES: Readonly<
  Record<string, (request: SampleRequest, operation: OperationModel, inputs: Inputs, baseUrl: string) => string>
> = {
  curl: ({ method, url, headers, body }) => curlCommand({ method, url, headers, body, key: keyIn(headers) }),
  fetch: ({ method, url, headers, body }) => {
    const options = [
      ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
      ...(headers.length === 0 ? [] : [`  headers: ${objectOf(headers, '  ')},`]),
      ...(body === undefined ? [] : [`  body: ${JSON.stringify(body)},`]),
    ]
    const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`
    return `const response = await fetch(${JSON.stringify(url)}${given})\nconsole.log(response.status, await response.text())`
  },
  Python: ({ method, url, headers, body }) =>
    [
      'import urllib.error',
      'import urllib.request',
      '',
      'request = urllib.request.Request(',
      `    ${JSON.stringify(url)},`,
      `    method=${JSON.stringify(method)},`,
      `    headers=${objectOf(headers, '    ')},`,
      ...(body === undefined ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
      ')',
      'try:',
      '    with urllib.request.urlopen(request) as response:',
      '        print(response.status, response.read().decode())',
      'except urllib.error.HTTPError as error:',
      '    print(error.code, error.read().decode())',
    ].join('\n'),
  call: ({ headers, body }, { id, parameters }, inputs, baseUrl) => {
    const value = (name: string) => inputs.parameters[name] ?? ''
    const inPath = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => value(name))
    const others = parameters.filter(({ in: place, name }) => place === 'query' && value(name) !== '')
    const flags = others.flatMap(({ name }) => [`--${kebab(name)}`, value(name)])
    const given = body === undefined ? [] : ['--body', body]
    const words = ['call', id, ...inPath, ...flags, ...given, '--base-url', baseUrl].map(shellWord)
    const key = keyIn(headers)
    return `${key === '' ? '' : `PETSTORE_API_KEY=${key} `}petstore-sandbox ${words.join(' ')}`
  },
}

function keyIn(headers: SampleRequest['headers']): string {
  return mapOf(Object.fromEntries(headers)).Authorization?.toString().replace('Bearer ', '') ?? ''
}

/** The same text is an object in JavaScript and a dictionary in Python. */
function objectOf(pairs: SampleRequest['headers'], indent: string): string {
  const lines = pairs.map(([name, value]) => `${indent}  ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
