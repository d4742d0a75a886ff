import { useState } from 'preact/hooks'
import { SANDBOX_ADDRESS } from '../sandbox-address.js'
import { ActionButton } from './controls.js'
import { CopyButton } from './copy-button.js'
import { useDashboard, useSession } from './session-context.js'

const FORMS: Readonly<Record<string, (base: string, key: string) => string>> = {
  curl: (base, key) => `curl -H 'Authorization: Bearer ${key}' ${base}/pets`,
  fetch: (base, key) =>
    `const response = await fetch('${base}/pets', {\n  headers: { authorization: 'Bearer ${key}' },\n})`,
  '.env': (base, key) => `PETSTORE_BASE_URL=${base}\nPETSTORE_API_KEY=${key}`,
  'Vite proxy': (base, key) => {
    const { origin, pathname } = new URL(base)
    return `// vite.config.js\nexport default {\n  server: {\n    proxy: {\n      '${pathname}': {\n        target: '${origin}',\n        headers: { authorization: 'Bearer ${key}' },\n      },\n    },\n  },\n}`
  },
  Vitest: () =>
    `import { expect } from 'vitest'\nimport { test } from 'petstore-sandbox/vitest'\n\ntest('lists pets', async ({ sandbox }) => {\n  const headers = { authorization: \`Bearer \${sandbox.key()}\` }\n  const answer = await fetch(\`\${sandbox.baseUrl}/pets\`, { headers })\n  expect(answer.status).toBe(200)\n})`,
}

/** What to do while there is nothing to see: where to send requests, and with which key. */
export function FirstRun() {
  const session = useSession()
  const basePath = useDashboard(({ state }) => state?.basePath ?? '')
  const space = useDashboard(({ space }) => space)
  const [form, choose] = useState('curl')
  const base = SANDBOX_ADDRESS + basePath
  const key = space === '' ? 'sandbox' : `sandbox~${space}`
  const text = (FORMS[form] ?? FORMS.curl)?.(base, key) ?? ''
  return (
    <div class="empty first">
      <p>No requests yet. Send one to</p>
      <p class="row">
        <code class="mono">{base}</code> <CopyButton text={base}>Copy address</CopyButton>
      </p>
      <p>
        with <code class="mono">Bearer {key}</code> <CopyButton text={key}>Copy key</CopyButton>
      </p>
      <p class="row">
        {Object.keys(FORMS).map((name) => (
          <button type="button" key={name} aria-pressed={name === form} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <pre tabIndex={0}>{text}</pre>
      <p class="row">
        <CopyButton text={text}>Copy</CopyButton>
        <ActionButton
          class="primary"
          act={async () => {
            await fetch(`${base}/pets?limit=3`, { headers: { authorization: `Bearer ${key}` } })
            session.announce('A request was sent.')
          }}
        >
          Send a sample request
        </ActionButton>
      </p>
    </div>
  )
}
