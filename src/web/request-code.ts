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
  fetch: (request: CodeRequest) => {
    const { url, key, keyHeader } = request
    const sentKey = key === KEY_REFERENCE ? `\`${keyHeader.prefix}\${process.env.PETSTORE_API_KEY}\`` : undefined
    const call = fetchCall(quoted(url), request, sentKey ?? quoted(keyHeader.prefix + key))
    return `const response = await ${call}\nconsole.log(response.status, await response.text())`
  },
} satisfies Record<string, (request: CodeRequest) => string>

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
  const target = `\`\${sandbox.baseUrl}${pathname.slice(basePath.length) + search}\``
  const key = `\`${request.keyHeader.prefix}\${sandbox.key()}\``
  const call = fetchCall(target, request, key).replaceAll('\n', '\n  ')
  const again = isEarly ? `\n  await ${call}\n  expect((await sandbox.conduct()).violations).toEqual([])` : ''
  return `import { expect } from 'vitest'
import { test } from 'petstore-sandbox/vitest'

test('${request.method} ${pathname} ${isEarly ? 'waits as it is told' : 'succeeds'}', async ({ sandbox }) => {
${setup === undefined ? '' : `  ${setup}\n`}  // Call your client here instead.
  const response = await ${call}
  ${isEarly ? 'await response.text()' : 'expect(response.status).toBeLessThan(400)'}${again}
})
`
}

/** @param url, key expressions */
function fetchCall(url: string, { method, headers, key, keyHeader, body }: CodeRequest, sentKey: string): string {
  const lines = [
    ...(key === undefined ? [] : [`    ${quoted(keyHeader.name)}: ${sentKey},`]),
    ...headers.map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${quoted(method)},`]),
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines, '  },']),
    ...(body === undefined ? [] : [`  body: ${quoted(body)},`]),
  ]
  return `fetch(${url}${options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`})`
}

export const codeForms = (request: CodeRequest) => ({
  curl: () => CODE_FORMS.curl(request),
  fetch: () => CODE_FORMS.fetch(request),
})

const quoted = (text: string) => JSON.stringify(text)
