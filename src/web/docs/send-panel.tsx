import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { callVerb, SANDBOX_ADDRESS } from '../control-api.js'
import { messageOf } from '../format.js'
import { type CodeRequest, codeForms } from '../request-code.js'
import { ActionError, Body, type Choice, CodeBlock, Field, HeaderList, useAction } from '../ui.js'
import { asList, type OperationModel } from './contract-model.js'
import { chosenKey, keyInSpace, provoke, type Served, space, updateState, usableKeys } from './docs-state.js'
import { firstInputs, type Inputs, type Provocation, provocationOf, requestOf } from './sample-request.js'

type ReceivedResponse = Awaited<ReturnType<typeof sendRequest>>

const TIMEOUT_S = 30
const QUOTA_INTERVAL_MS = 2000

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
  const provoked = useSignal<Provocation | undefined>(undefined)
  const sending = useRef<AbortController>(undefined)
  const by = { baseUrl, key: keyInSpace(provoked.value?.key), keyHeader, prefer: provoked.value?.prefer }
  const request = requestOf(operation, inputs.value, by)
  const { parameters, body } = inputs.value

  function send(provocation?: Provocation) {
    sending.current?.abort()
    const controller = new AbortController()
    sending.current = controller
    response.value = undefined
    if (provocation !== undefined) {
      inputs.value = provocation.inputs
      provoked.value = provocation
    }
    const { key: givenKey, prefer, how } = provocation ?? provoked.value ?? {}
    const sent = requestOf(operation, inputs.value, { baseUrl, key: keyInSpace(givenKey), keyHeader, prefer })
    const timer = setTimeout(() => controller.abort(new Error(`none after ${TIMEOUT_S} s`)), TIMEOUT_S * 1000)
    return action.run(async () => {
      try {
        const received = await sendRequest(sent, how, controller.signal)
        if (sending.current === controller) response.value = received
      } catch (error) {
        if (sending.current === controller) throw new Error(`No response: ${messageOf(error)}.`)
      } finally {
        clearTimeout(timer)
        void updateState()
      }
    })
  }

  useEffect(() => () => sending.current?.abort(), [])
  useEffect(() => {
    const status = provoke.value
    provoke.value = undefined
    const provocation = status && provocationOf(contract, operation, status, keys)
    if (provocation) void send(provocation)
  }, [provoke.value])
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && updateState(), QUOTA_INTERVAL_MS)
    return () => clearInterval(timer)
  }, [])

  function edit(changed: Partial<Inputs>) {
    provoked.value = undefined
    inputs.value = { ...inputs.value, ...changed }
  }

  return (
    <aside class="try stack" aria-label="Code and response">
      <p>
        <Field
          label="Key"
          class="stacked"
          value={chosenKey.value}
          choices={keys.map(({ key: name, plan, always }) => [
            name,
            `${name} (${always === null ? plan : `always ${always}`})`,
          ])}
          choose={(name) => {
            provoked.value = undefined
            chosenKey.value = name
          }}
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
          class="stack"
          aria-label="Request"
          onSubmit={(event) => {
            event.preventDefault()
            void send()
          }}
        >
          {operation.parameters.map(({ name, isRequired, example, schema }) => {
            const values = asList(contract.read(schema).enum).map(String)
            const unset: readonly Choice[] = isRequired ? [] : [['', 'not sent']]
            return (
              <Field
                key={name}
                label={name}
                class="stacked"
                value={parameters[name] ?? ''}
                required={isRequired}
                {...(values.length === 0
                  ? { placeholder: example === undefined ? '' : String(example) }
                  : { choices: [...unset, ...values] })}
                choose={(value) => edit({ parameters: { ...parameters, [name]: value } })}
              />
            )
          })}
          {operation.body === undefined ? null : (
            <label class="stacked">
              Body
              <textarea
                rows={6}
                class="mono"
                spellcheck={false}
                value={body}
                onInput={({ currentTarget: { value } }) => edit({ body: value })}
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
      <CodeBlock forms={codeForms(request, 'curl', 'fetch', 'Python', 'call')} />
      {action.pending.value === undefined ? null : (
        <p class="row">
          <span role="status">Waiting for the response …</span>
          <button type="button" onClick={() => sending.current?.abort(new Error('cancelled'))}>
            Cancel
          </button>
        </p>
      )}
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
    <section class="response stack" aria-labelledby={id}>
      <h3 id={id}>
        Response <span class={`code c${String(status).charAt(0)}`}>{status}</span> {statusText}
      </h3>
      {how === undefined ? null : <p class="muted">Provoked {how}.</p>}
      {exchange === undefined ? null : (
        <p>
          <a href={`./#${place}`}>Exchange {exchange} in the dashboard</a>
        </p>
      )}
      <Body text={body} />
      <HeaderList headers={headers} />
    </section>
  )
}

async function sendRequest(request: CodeRequest, how: string | undefined, signal: AbortSignal) {
  const { method, url, headers, key, keyHeader, body } = request
  const response = await fetch(url, {
    method,
    headers: Object.fromEntries(key === undefined ? headers : [[keyHeader.name, keyHeader.prefix + key], ...headers]),
    cache: 'no-store',
    signal,
    ...(body === undefined ? {} : { body }),
  })
  return {
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
    how,
    /** Id in the log; undefined if not found. */
    exchange: await exchangeOf(request).catch(() => undefined),
  }
}

async function exchangeOf({ method, url }: CodeRequest): Promise<number | undefined> {
  const [path, query = ''] = new URL(url).href.slice(SANDBOX_ADDRESS.length).split('?')
  const exchanges = await callVerb('requests.list', space, { limit: 20 })
  return exchanges.findLast((sent) => sent.method === method && sent.path === path && sent.query === query)?.id
}
