import { BEARER } from '../../contract/contract-data.js'
import { OWN_CLIENT } from '../../domain/keys.js'
import { OWN_CLIENT_HEADER } from '../../domain/messages.js'
import { spacePath } from '../../domain/space-address.js'
import { CodeBlock } from '../content.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { codeForms } from '../request-code.js'
import { ActionButton } from './fields.js'
import { sampleTarget } from './sample-request.js'
import { announce } from './session.js'
import { contract, space, state } from './state.js'

export function FirstRun() {
  const { basePath = '', keyHeader = BEARER, keys = [] } = state.value ?? {}
  const base = SANDBOX_ADDRESS + spacePath(space.value) + basePath
  const key = keys.find(({ secret, always }) => !secret && always === null)?.key
  const target = sampleTarget(contract.value)
  const url = base + (target ?? '')
  const request = { method: 'GET', url, key, keyHeader, headers: [], body: undefined }
  return (
    <div class="bar stack">
      <p>No requests yet. {target === undefined ? 'The base URL is:' : 'Send one:'}</p>
      <CodeBlock
        forms={{
          ...(target !== undefined && codeForms(request)),
          '.env': () => `PETSTORE_BASE_URL=${base}\nPETSTORE_API_KEY=${key ?? ''}`,
        }}
      />
      {target === undefined ? null : (
        <p class="row">
          <ActionButton
            class="primary"
            act={async () => {
              const sent = key === undefined ? {} : { [keyHeader.name]: keyHeader.prefix + key }
              await fetch(url, { headers: { ...sent, [OWN_CLIENT_HEADER]: OWN_CLIENT } })
              announce('A request was sent.')
            }}
          >
            Send GET {basePath + target}
          </ActionButton>
        </p>
      )}
    </div>
  )
}
