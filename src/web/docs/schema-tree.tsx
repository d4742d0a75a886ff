import { useState } from 'preact/hooks'
import { type ContractModel, mapOf, textOf } from './contract-model.js'
import { Prose } from './prose.js'
import { partsOf, schemaWords } from './schema-words.js'

/** Levels that are open to begin with. */
const OPEN_LEVELS = 2

/** A schema and what it is made of. What is closed is not made, so one that contains itself does no harm. */
export function SchemaTree({
  contract,
  schema,
  level = 0,
}: {
  readonly contract: ContractModel
  readonly schema: unknown
  readonly level?: number
}) {
  const { type, bounds } = schemaWords(contract, schema)
  const parts = partsOf(contract, schema)
  const said = textOf(mapOf(contract.resolve(schema).value).description)
  return (
    <div class="schema">
      {level === 0 ? <p class="type">{[type, ...bounds].join(', ')}</p> : null}
      <Prose text={said} />
      {parts.length === 0 ? null : (
        <ul>
          {parts.map(({ name, schema: of, isRequired }) => (
            <li key={name}>
              <Part contract={contract} name={name} schema={of} isRequired={isRequired} level={level + 1} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Part({
  contract,
  name,
  schema,
  isRequired,
  level,
}: {
  readonly contract: ContractModel
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
  readonly level: number
}) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS)
  const { type, bounds } = schemaWords(contract, schema)
  const hasMore = partsOf(contract, schema).length > 0
  const head = (
    <>
      <code>{name}</code> <span class="type">{[type, ...bounds].join(', ')}</span>
      {isRequired ? <span class="required">required</span> : null}
    </>
  )
  if (!hasMore)
    return (
      <>
        {head}
        <Prose text={textOf(mapOf(contract.resolve(schema).value).description)} />
      </>
    )
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{head}</summary>
      {isOpen ? <SchemaTree contract={contract} schema={schema} level={level} /> : null}
    </details>
  )
}
