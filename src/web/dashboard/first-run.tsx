import { BEARER } from '../../contract/contract-data.js'
import { spacePath } from '../../domain/space-address.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { codeForms } from '../request-code.js'
import { announce } from '../session.js'
import { operations, space, state } from '../state.js'
import { CodeBlock } from '../ui.js'
import { ActionButton } from './fields.js'

export function FirstRun() {
  const { basePath = '', keyHeader = BEARER } = state.value ?? {}
  const base = SANDBOX_ADDRESS + spacePath(space.value) + basePath
  const key = 'sandbox'
  const simplest = operations.value.find(({ method, path }) => method === 'get' && !path.includes('{'))
  const url = base + (simplest?.path ?? '')
  const none = { headers: [], body: undefined, operation: undefined }
  const request = { method: 'GET', url, key, keyHeader, baseUrl: base, ...none }
  return (
    <div class="empty stack">
      <p>No requests yet. Send one:</p>
      <CodeBlock
        forms={{
          ...codeForms(request, 'curl', 'fetch'),
          '.env': () => `PETSTORE_BASE_URL=${base}\nPETSTORE_API_KEY=${key}`,
        }}
      />
      <p class="row">
        <ActionButton
          class="primary"
          act={async () => {
            await fetch(url, { headers: { [keyHeader.name]: keyHeader.prefix + key } })
            announce('A request was sent.')
          }}
        >
          Send a sample request
        </ActionButton>
      </p>
    </div>
  )
}
