import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { callVerb, SANDBOX_ADDRESS } from '../control-api.js'
import { messageOf, readableBody } from '../format.js'
import { CODE_FORMS, type CodeRequest } from '../request-code.js'
import { ActionError, CodeBlock, HeaderList, Pre, Select, useAction } from '../ui.js'
import type { OperationModel } from './contract-model.js'
import { chosenKey, keyInSpace, type Served, space, updateState, usableKeys } from './docs-state.js'
import { firstInputs, type Inputs, type Provocation, provocationOf, requestOf } from './sample-request.js'

interface ReceivedResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly how: string | undefined
  /** Id in the log; undefined if not found. */
  readonly exchange: number | undefined
}

export function SendPanel({
  served: { contract, baseUrl, state },
  operation,
}: {
  readonly served: Served
  readonly operation: OperationModel
}) {
  const { keyHeader } = state
  const inputs = useSignal<Inputs>(firstInputs(contract, operation))
  const response = useSignal<ReceivedResponse | undefined>(undefined)
  const action = useAction()
  const keys = usableKeys()
  const key = keys.find((known) => known.key === chosenKey.value)
  const request = requestOf(operation, inputs.value, { baseUrl, key: keyInSpace(), keyHeader })
  const { curl, fetch, Python, call } = CODE_FORMS
  const { parameters, body } = inputs.value
  const provocations = operation.responses.flatMap(({ status }) => {
    const names = keys.map(({ key: name }) => name)
    const provocation = provocationOf(contract, operation, status, names)
    return provocation === undefined ? [] : [[status, provocation] as const]
  })

  function send(provocation?: Provocation) {
    if (provocation !== undefined) inputs.value = provocation.inputs
    const by = { baseUrl, key: keyInSpace(provocation?.key), keyHeader, prefer: provocation?.prefer }
    return action.run(async () => {
      response.value = await sendRequest(requestOf(operation, inputs.value, by), provocation?.how).catch((error) => {
        response.value = undefined
        throw new Error(`No response: ${messageOf(error)}.`)
      })
      void updateState()
    })
  }

  return (
    <aside class="try" aria-label="Code and response">
      <p>
        <Select
          label="Key"
          isStacked
          value={chosenKey.value}
          choices={keys.map(({ key: name }) => name)}
          texts={Object.fromEntries(
            keys.map(({ key: name, plan, always }) => [
              name,
              `${name} (${always === null ? plan : `always ${always}`})`,
            ]),
          )}
          choose={(name) => (chosenKey.value = name)}
        />
      </p>
      {key === undefined ? null : (
        <p class="quota" role="status">
          {key.minute.remaining.toLocaleString('en')} of {key.minute.limit.toLocaleString('en')} left this minute,{' '}
          {key.day.remaining.toLocaleString('en')} of {key.day.limit.toLocaleString('en')} today
        </p>
      )}
      {operation.isSendable ? (
        <form
          aria-label="Request"
          onSubmit={(event) => {
            event.preventDefault()
            void send()
          }}
        >
          {operation.parameters.map(({ name, isRequired, example }) => (
            <label class="stacked" key={name}>
              {name}
              <input
                value={parameters[name] ?? ''}
                required={isRequired}
                placeholder={example === undefined ? '' : String(example)}
                autocomplete="off"
                onInput={({ currentTarget: { value } }) => {
                  inputs.value = { body, parameters: { ...parameters, [name]: value } }
                }}
              />
            </label>
          ))}
          {operation.body === undefined ? null : (
            <label class="stacked">
              Body
              <textarea
                rows={6}
                class="mono"
                spellcheck={false}
                value={body}
                onInput={({ currentTarget: { value } }) => {
                  inputs.value = { parameters, body: value }
                }}
              />
            </label>
          )}
          <button type="submit" class="primary" aria-busy={action.pending.value !== undefined}>
            Send
          </button>
        </form>
      ) : (
        <p class="muted">As in the service’s own docs, this operation cannot be sent from here.</p>
      )}
      <CodeBlock
        forms={{
          curl: () => curl(request),
          fetch: () => fetch(request),
          Python: () => Python(request),
          call: () => call(request),
        }}
      />
      {operation.isSendable ? (
        <section aria-label="Provoke a response">
          <h3>Provoke it</h3>
          <p class="row">
            {provocations.map(([status, provocation]) => (
              <button type="button" key={status} title={provocation.how} onClick={() => send(provocation)}>
                {status}
              </button>
            ))}
          </p>
        </section>
      ) : null}
      <ActionError action={action} />
      <p class="hidden" role="status">
        {response.value === undefined ? '' : `Received ${response.value.status}.`}
      </p>
      {response.value === undefined ? null : <ResponseView response={response.value} />}
    </aside>
  )
}

function ResponseView({ response }: { readonly response: ReceivedResponse }) {
  const { status, statusText, headers, body, how, exchange } = response
  const id = useId()
  const place = new URLSearchParams({ ...(space === '' ? {} : { space }), exchange: String(exchange) })
  return (
    <section class="response" aria-labelledby={id}>
      <h3 id={id}>
        Response <span class={`code c${String(status).charAt(0)}`}>{status}</span> {statusText}
      </h3>
      {how === undefined ? null : <p class="muted">Provoked {how}.</p>}
      {exchange === undefined ? null : (
        <p>
          <a href={`./#${place}`}>Exchange {exchange} in the dashboard</a>
        </p>
      )}
      <HeaderList headers={headers} />
      {body === '' ? <p class="muted">No body.</p> : <Pre>{readableBody(body)}</Pre>}
    </section>
  )
}

async function sendRequest(request: CodeRequest, how: string | undefined): Promise<ReceivedResponse> {
  const { method, url, headers, key, keyHeader, body } = request
  const response = await fetch(url, {
    method,
    headers: [...(key === undefined ? [] : [[keyHeader.name, keyHeader.prefix + key] as const]), ...headers].map(
      ([name, value]): [string, string] => [name, value],
    ),
    cache: 'no-store',
    ...(body === undefined ? {} : { body }),
  })
  return {
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
    how,
    exchange: await exchangeOf(request).catch(() => undefined),
  }
}

async function exchangeOf({ method, url }: CodeRequest): Promise<number | undefined> {
  const [path, query = ''] = new URL(url).href.slice(SANDBOX_ADDRESS.length).split('?')
  const exchanges = await callVerb('requests.list', space, { limit: 20 })
  return exchanges.findLast((sent) => sent.method === method && sent.path === path && sent.query === query)?.id
}
