import { BEARER, type KeyHeader } from '../../contract/contract-data.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { codeForms } from '../request-code.js'
import { announce } from '../session.js'
import { space, state } from '../state.js'
import { CodeBlock, CopyButton } from '../ui.js'
import { ActionButton } from './fields.js'

export function FirstRun() {
  const { basePath = '', keyHeader = BEARER } = state.value ?? {}
  const base = SANDBOX_ADDRESS + basePath
  const key = space.value === '' ? 'sandbox' : `sandbox~${space}`
  const url = `${base}/pets`
  const none = { headers: [], body: undefined, operation: undefined }
  const request = { method: 'GET', url, key, keyHeader, baseUrl: base, ...none }
  return (
    <div class="empty stack">
      <p>No requests yet. Send one to</p>
      <p class="row">
        <code class="mono">{base}</code> <CopyButton text={base}>Copy address</CopyButton>
      </p>
      <p>
        with{' '}
        <code class="mono">
          {keyHeader.name}: {keyHeader.prefix}
          {key}
        </code>{' '}
        <CopyButton text={key}>Copy key</CopyButton>
      </p>
      <CodeBlock
        forms={{
          ...codeForms(request, 'curl', 'fetch'),
          '.env': () => `PETSTORE_BASE_URL=${base}\nPETSTORE_API_KEY=${key}`,
          'Vite proxy': () => viteConfig(new URL(base), keyHeader, key),
          Vitest: () => VITEST_FILE,
        }}
      />
      <p class="row">
        <ActionButton
          class="primary"
          act={async () => {
            await fetch(`${url}?limit=3`, { headers: { [keyHeader.name]: keyHeader.prefix + key } })
            announce('A request was sent.')
          }}
        >
          Send a sample request
        </ActionButton>
      </p>
    </div>
  )
}

function viteConfig({ origin, pathname }: URL, { name, prefix }: KeyHeader, key: string): string {
  return `// vite.config.js
export default {
  server: {
    proxy: {
      '${pathname}': {
        target: '${origin}',
        headers: { '${name}': '${prefix}${key}' },
      },
    },
  },
}`
}

const VITEST_FILE = `import { expect } from 'vitest'
import { test } from 'petstore-sandbox/vitest'

test('lists pets', async ({ sandbox }) => {
  const headers = { authorization: \`Bearer \${sandbox.key()}\` }
  const response = await fetch(\`\${sandbox.baseUrl}/pets\`, { headers })
  expect(response.status).toBe(200)
})`
