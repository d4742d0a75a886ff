import { stringifyJson } from '../../contract/json.js'
import type { BodyModel, ContractModel, OperationModel } from './contract-model.js'
import { Prose } from './prose.js'
import { SchemaTree } from './schema-tree.js'
import { sampleOf, schemaWords } from './schema-words.js'

/** What the contract says of an operation. */
export function OperationView({
  contract,
  operation,
}: {
  readonly contract: ContractModel
  readonly operation: OperationModel
}) {
  const { id, method, path, title, description, markers, successor, parameters, body, answers } = operation
  return (
    <article>
      <h2 tabIndex={-1}>
        <span class={`method ${method}`}>{method}</span> <span class="mono">{path}</span>
      </h2>
      <p>
        <strong>{title}</strong> <span class="mono muted">{id}</span>
      </p>
      {markers.map(({ kind, text }) => (
        <p key={text} class={`marker ${kind}`}>
          {text}
          {kind === 'deprecated' && successor !== undefined ? <>; use {successor} instead</> : null}
        </p>
      ))}
      <Prose text={description} />
      {parameters.length === 0 ? null : (
        <section aria-label="Parameters">
          <h3>Parameters</h3>
          <dl class="fields-of">
            {parameters.map(({ name, in: place, isRequired, description: said, schema }) => {
              const { type, bounds } = schemaWords(contract, schema)
              return (
                <div key={`${place} ${name}`}>
                  <dt>
                    <code>{name}</code> <span class="muted">{place}</span>
                    {isRequired ? <span class="required">required</span> : null}
                  </dt>
                  <dd>
                    {[type, ...bounds].join(', ')}
                    <Prose text={said} />
                  </dd>
                </div>
              )
            })}
          </dl>
        </section>
      )}
      {body === undefined ? null : (
        <section aria-label="Request body">
          <h3>
            Request body <span class="muted">{body.mediaType}</span>
            {body.isRequired ? <span class="required">required</span> : null}
          </h3>
          <BodyView contract={contract} body={body} />
        </section>
      )}
      <section aria-label="Answers">
        <h3>Answers</h3>
        {answers.map(({ status, description: said, choice, headers, body: answered }) => (
          <details key={status} open={status.startsWith('2')}>
            <summary>
              <span class={`code c${status.charAt(0)}`}>{status}</span> {said}
              {choice === undefined ? null : <span class="marker stability">the sandbox’s choice: {choice}</span>}
            </summary>
            {headers.length === 0 ? null : (
              <dl class="fields-of">
                {headers.map(({ name, description: header }) => (
                  <div key={name}>
                    <dt>
                      <code>{name}</code>
                    </dt>
                    <dd>{header}</dd>
                  </div>
                ))}
              </dl>
            )}
            {answered === undefined ? (
              <p class="muted">No body is documented.</p>
            ) : (
              <BodyView contract={contract} body={answered} />
            )}
          </details>
        ))}
      </section>
    </article>
  )
}

function BodyView({ contract, body }: { readonly contract: ContractModel; readonly body: BodyModel }) {
  const { schema, examples } = body
  const shown =
    examples.length > 0 || schema === undefined
      ? examples
      : [{ title: 'Made from the schema', value: sampleOf(contract, schema) }]
  return (
    <>
      {schema === undefined ? null : <SchemaTree contract={contract} schema={schema} />}
      {shown.map(({ title, value }) => (
        <figure key={title}>
          <figcaption class="muted">{title}</figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
          <pre tabIndex={0}>{typeof value === 'string' ? value : stringifyJson(value, 2)}</pre>
        </figure>
      ))}
    </>
  )
}
