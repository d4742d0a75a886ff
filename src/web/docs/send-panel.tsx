import { useEffect, useId, useState } from 'preact/hooks'
import type { KeyView, StateView } from '../../control/views.js'
import { HeaderList } from '../dashboard/message-view.js'
import { readableBody } from '../dashboard/readable-body.js'
import { CodePanel } from './code-panel.js'
import type { ContractModel, OperationModel } from './contract-model.js'
import { type Answer, send } from './docs-api.js'
import { type Provocation, provocationOf } from './provoke.js'
import { firstInputs, type Inputs, LANGUAGES, requestOf } from './sample-request.js'

/** An operation's request in code, sent by a click, and its answer. */
export function SendPanel({
  contract,
  operation,
  baseUrl,
  state,
  space,
  keys,
  chosen,
  choose,
  sent,
}: {
  readonly contract: ContractModel
  readonly operation: OperationModel
  readonly baseUrl: string
  readonly state: StateView
  readonly space: string
  readonly keys: readonly KeyView[]
  readonly chosen: string
  choose(key: string): void
  /** Something was sent, so that quotas are others now. */
  sent(): void
}) {
  const [inputs, setInputs] = useState<Inputs>(() => firstInputs(contract, operation))
  const [language, setLanguage] = useState('curl')
  const [answer, setAnswer] = useState<Answer>()
  const [error, setError] = useState<string>()
  const [how, setHow] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  const inSpace = (key: string) => (key === '' || space === '' ? key : `${key}~${space}`)
  const request = requestOf(operation, inputs, { baseUrl, key: inSpace(chosen) })
  const code = LANGUAGES[language]?.(request, operation, inputs, baseUrl) ?? ''
  const key = state.keys.find((one) => one.key === chosen)

  async function ask(provocation?: Provocation) {
    const by = { baseUrl, key: inSpace(provocation?.key ?? chosen), prefer: provocation?.prefer }
    setBusy(true)
    setError(undefined)
    setHow(provocation?.how)
    if (provocation !== undefined) setInputs(provocation.inputs)
    try {
      setAnswer(await send(requestOf(operation, provocation?.inputs ?? inputs, by), space))
      sent()
    } catch (failure) {
      setAnswer(undefined)
      setError(`No answer came: ${failure instanceof Error ? failure.message : String(failure)}.`)
    } finally {
      setBusy(false)
    }
  }

  return (
    <aside class="try" aria-label="Code and answer">
      <label class="stacked">
        Key
        <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {keys.map(({ key: name, plan, always }) => (
            <option key={name} value={name}>
              {`${name} (${always === null ? plan : `always ${always}`})`}
            </option>
          ))}
        </select>
      </label>
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
            void ask()
          }}
        >
          {operation.parameters.map(({ name, isRequired, example }) => (
            <label class="stacked" key={name}>
              {name}
              <input
                value={inputs.parameters[name] ?? ''}
                required={isRequired}
                placeholder={example === undefined ? '' : String(example)}
                autocomplete="off"
                onInput={({ currentTarget }) =>
                  setInputs({ ...inputs, parameters: { ...inputs.parameters, [name]: currentTarget.value } })
                }
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
                value={inputs.body}
                onInput={({ currentTarget }) => setInputs({ ...inputs, body: currentTarget.value })}
              />
            </label>
          )}
          <button type="submit" class="primary" aria-busy={isBusy}>
            Send
          </button>
        </form>
      ) : (
        <p class="muted">The service’s own docs have no panel for this operation, so there is none here.</p>
      )}
      <CodePanel languages={Object.keys(LANGUAGES)} language={language} choose={setLanguage} code={code} />
      {operation.isSendable ? (
        <section aria-label="Provoke an answer">
          <h3>Provoke it</h3>
          <p class="row">
            {operation.answers.map(({ status }) => {
              const provocation = provocationOf(
                contract,
                operation,
                status,
                keys.map(({ key: name }) => name),
              )
              return provocation === undefined ? null : (
                <button type="button" key={status} title={provocation.how} onClick={() => ask(provocation)}>
                  {status}
                </button>
              )
            })}
          </p>
        </section>
      ) : null}
      {error === undefined ? null : (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {answer === undefined ? null : <AnswerView id={id} answer={answer} how={how} space={space} />}
    </aside>
  )
}

function AnswerView({
  id,
  answer,
  how,
  space,
}: {
  readonly id: string
  readonly answer: Answer
  readonly how: string | undefined
  readonly space: string
}) {
  const { status, statusText, headers, body, exchange } = answer
  const [said, setSaid] = useState('')
  useEffect(() => setSaid(`Answered ${status}.`), [answer])
  const place = new URLSearchParams({ ...(space === '' ? {} : { space }), exchange: String(exchange) })
  return (
    <section class="answer" aria-labelledby={id}>
      <h3 id={id}>
        Answer <span class={`code c${String(status).charAt(0)}`}>{status}</span> {statusText}
      </h3>
      <p class="hidden" role="status">
        {said}
      </p>
      {how === undefined ? null : <p class="muted">Provoked {how}.</p>}
      {exchange === undefined ? null : (
        <p>
          <a href={`./#${place}`}>Exchange {exchange} in the dashboard</a>
        </p>
      )}
      <HeaderList headers={headers} />
      {body === '' ? (
        <p class="muted">No body.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
        <pre tabIndex={0}>{readableBody(body)}</pre>
      )}
    </section>
  )
}
