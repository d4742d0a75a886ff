import { useSignal } from '@preact/signals'
import { stringifyJson } from '../../contract/json.js'
import { Body, Table } from '../ui.js'
import { asText, type BodyModel, type ContractModel, type OperationModel } from './contract-model.js'
import { provoke } from './docs-state.js'
import { partsOf, type SchemaPart, sampleOf, schemaText } from './schema-words.js'

export function OperationView({
  contract,
  operation,
}: {
  readonly contract: ContractModel
  readonly operation: OperationModel
}) {
  const { id, method, path, title, description, markers, successor, parameters, body, responses } = operation
  return (
    <article class="stack">
      <h2 tabIndex={-1}>
        <span class={`method ${method}`}>{method}</span> <span class="mono">{path}</span>
      </h2>
      <p>
        <strong>{title}</strong> <span class="mono muted">{id}</span>
      </p>
      {markers.map(({ kind, text, detail }) => (
        <p key={text} class="marker muted">
          {text}
          {detail === '' ? '' : `: ${detail}`}
          {kind === 'deprecated' && successor !== '' ? `; use ${successor} instead` : ''}
        </p>
      ))}
      <Prose text={description} />
      {parameters.length === 0 ? null : (
        <section class="stack" aria-label="Parameters">
          <h3>Parameters</h3>
          <Table
            head={['Name', 'Place', 'Value']}
            rows={parameters.map(({ name, in: place, isRequired, description: text, schema }) => [
              name,
              <>
                {place} <Required isRequired={isRequired} />
              </>,
              <>
                {schemaText(contract, schema)}
                <Prose text={text} />
              </>,
            ])}
            isMono
          />
        </section>
      )}
      {body === undefined ? null : (
        <section class="stack" aria-label="Request body">
          <h3>
            Request body <span class="muted">{body.mediaType}</span>
            <Required isRequired={body.isRequired} />
          </h3>
          <BodyView contract={contract} body={body} />
        </section>
      )}
      <section class="stack" aria-label="Responses">
        <h3>Responses</h3>
        {responses.map(({ status, description: text, choice, headers, body: returned }) => (
          <details key={status} open={status.startsWith('2')}>
            <summary>
              <span class={`code c${status.charAt(0)}`}>{status}</span> <Inline text={text} />{' '}
              {choice === '' ? null : <span class="marker muted">the sandbox’s choice: {choice}</span>}
            </summary>
            {returned === undefined ? (
              <p class="muted">No body is documented.</p>
            ) : (
              <BodyView contract={contract} body={returned} />
            )}
            {headers.length === 0 ? null : (
              <Table
                head={['Header', 'Meaning']}
                rows={headers.map((header) => [header.name, header.description])}
                isMono
              />
            )}
            {operation.isSendable && /^\d{3}$/.test(status) ? (
              <p>
                <button type="button" onClick={() => (provoke.value = status)}>
                  Provoke {status}
                </button>
              </p>
            ) : null}
          </details>
        ))}
      </section>
    </article>
  )
}

function Required({ isRequired }: { readonly isRequired: boolean }) {
  return isRequired ? <span class="required">required</span> : null
}

function BodyView({ contract, body }: { readonly contract: ContractModel; readonly body: BodyModel }) {
  const { schema, examples } = body
  const shown =
    examples.length > 0 || schema === undefined
      ? examples
      : [{ title: 'Generated from the schema', value: sampleOf(contract, schema) }]
  return (
    <>
      {schema === undefined ? null : (
        <div class="schema">
          <p class="muted">{schemaText(contract, schema)}</p>
          <SchemaParts contract={contract} schema={schema} level={1} />
        </div>
      )}
      {shown.map(({ title, value }) => (
        <figure key={title}>
          <figcaption class="muted">{title}</figcaption>
          <Body text={typeof value === 'string' ? value : (stringifyJson(value) ?? '')} />
        </figure>
      ))}
    </>
  )
}

interface SchemaProps {
  readonly contract: ContractModel
  readonly schema: unknown
  readonly level: number
}

function SchemaParts({ contract, schema, level }: SchemaProps) {
  const parts = partsOf(contract, schema)
  return (
    <>
      <Prose text={asText(contract.read(schema).description)} />
      {parts.length === 0 ? null : (
        <ul>
          {parts.map((part) => (
            <li key={part.name}>
              <Part contract={contract} level={level} {...part} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** A closed part does not render its schema, which may be recursive. */
function Part({ contract, level, name, schema, isRequired }: SchemaProps & SchemaPart) {
  const isOpen = useSignal(level === 1)
  const head = (
    <>
      <code>{name}</code> <span class="muted">{schemaText(contract, schema)}</span>
      <Required isRequired={isRequired} />
    </>
  )
  const inner = <SchemaParts contract={contract} schema={schema} level={level + 1} />
  if (partsOf(contract, schema).length === 0)
    return (
      <>
        {head}
        {inner}
      </>
    )
  return (
    <details open={isOpen.value} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{head}</summary>
      {isOpen.value ? <div class="schema">{inner}</div> : null}
    </details>
  )
}

export function Inline({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`]+)`/)
  return <>{parts.map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}</>
}

export function Prose({ text }: { readonly text: string }) {
  const paragraphs = text.trim() === '' ? [] : text.trim().split(/\n\s*\n/)
  return (
    <>
      {paragraphs.map((paragraph, index) => (
        <p key={index} class="prose">
          <Inline text={paragraph} />
        </p>
      ))}
    </>
  )
}
