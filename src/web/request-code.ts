import { curlCommand, KEY_REFERENCE } from '../advice/curl.js'
import type { KeyHeader } from '../contract/contract-data.js'

type Headers = readonly (readonly [name: string, value: string])[]

export interface CodeRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** `KEY_REFERENCE` for the key in the environment; undefined without a key. */
  readonly key: string | undefined
  readonly keyHeader: KeyHeader
  readonly body: string | undefined
  /** The log does not have all of the body, or it is no text. */
  readonly isPartial?: boolean
}

const PARTIAL = 'The log does not have this body as it was sent.\n'

export const codeForms = (request: CodeRequest) => ({ curl: () => curlCode(request), fetch: () => fetchCode(request) })

export function curlCode({ method, url, headers, key, keyHeader, body, isPartial }: CodeRequest): string {
  const sent = key === undefined ? {} : { key }
  const all: Headers = key === undefined ? headers : [[keyHeader.name, key], ...headers]
  const note = isPartial ? `# ${PARTIAL}` : ''
  return note + curlCommand({ method, url, headers: all, body, keyHeaders: [keyHeader], ...sent })
}

function fetchCode(request: CodeRequest): string {
  const { url, key, keyHeader } = request
  const sentKey = key === KEY_REFERENCE ? `\`${keyHeader.prefix}\${process.env.PETSTORE_API_KEY}\`` : undefined
  const call = fetchCall(quoted(url), request, sentKey ?? quoted(keyHeader.prefix + key))
  return `const response = await ${call}\nconsole.log(response.status, await response.text())`
}

/**
 * A test that fails until the client under test takes the place of the recorded request.
 * @param basePath of the service in the request's space: `/~checkout/v1`
 * @param setup    statement that breaks the service as it was
 * @param isEarly  the client came back too early, which its conduct shows
 */
export function vitestCode(
  request: CodeRequest,
  basePath: string,
  setup: string | undefined,
  isEarly: boolean,
): string {
  const { pathname, search } = new URL(request.url)
  const target = `sandbox.baseUrl + ${quoted(pathname.slice(basePath.length) + search)}`
  const key = `\`${request.keyHeader.prefix}\${sandbox.key()}\``
  const call = fetchCall(target, request, key).replaceAll('\n', '\n  ')
  const again = isEarly ? `\n  await ${call}\n  expect((await sandbox.conduct()).violations).toEqual([])` : ''
  return `import { expect } from 'vitest'
import { test } from 'petstore-sandbox/vitest'

test(${quoted(`${request.method} ${pathname} ${isEarly ? 'waits as it is told' : 'succeeds'}`)}, async ({ sandbox }) => {
${setup === undefined ? '' : `  ${setup}\n`}  // Call your client here instead.
  const response = await ${call}
  ${isEarly ? 'await response.text()' : 'expect(response.status).toBeLessThan(400)'}${again}
})
`
}

/** @param url, key expressions */
function fetchCall(url: string, request: CodeRequest, sentKey: string): string {
  const { method, headers, key, keyHeader, body, isPartial } = request
  const lines = [
    ...(key === undefined ? [] : [`    ${quoted(keyHeader.name)}: ${sentKey},`]),
    ...headers.map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${quoted(method)},`]),
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines, '  },']),
    ...(isPartial ? [`  // ${PARTIAL.trim()}`] : []),
    ...(body === undefined ? [] : [`  body: ${quoted(body)},`]),
  ]
  return `fetch(${url}${options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`})`
}

/** As code: clients choose the text. */
export const quoted = (text: string) => JSON.stringify(text)
