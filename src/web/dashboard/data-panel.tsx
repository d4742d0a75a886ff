import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { parseJson, stringifyJson } from '../../contract/json.js'
import type { ResourceView } from '../../control/views.js'
import { counted, recordsText } from '../../domain/numbers.js'
import { CopyButton, ScrollBox } from '../content.js'
import { Field, Form, FormDialog, type ReadField } from '../ui.js'
import { call, removeSpace } from './actions.js'
import { ActionButton, SavedField, Section } from './fields.js'
import { type RecordField, recordFields } from './record-fields.js'
import { announce, showRecords, showSpace } from './session.js'
import {
  contract,
  RECORDS_PER_PAGE,
  recordLimit,
  recordSearch,
  records,
  resource,
  resources,
  snapshots,
  space,
  spaces,
  state,
} from './state.js'

export function DataPanel() {
  return (
    <>
      <Place />
      <RecordsSection />
      <SnapshotsSection />
      <SpacesSection />
    </>
  )
}

/** Where the records are, of all spaces or of the default one. */
function Place() {
  const { store = null } = state.value?.process ?? {}
  if (space.value !== '' || store === null)
    return <p class="place muted">These records are in memory, and are gone when the sandbox stops.</p>
  return (
    <p class="place row">
      <span class="mono grow">{store}</span>
      <CopyButton text={store}>Copy the path</CopyButton>
      <a href={`vscode://file${encodeURI(store)}`} title="Stop the sandbox before you edit it">
        Open in VS Code
      </a>
    </p>
  )
}

function shownResource(): ResourceView | undefined {
  return resources.value.find(({ name }) => name === resource.value) ?? resources.value[0]
}

function RecordsSection() {
  const shown = shownResource()
  const fields = useMemo(() => recordFields(contract.value, shown?.path ?? ''), [contract.value, shown?.path])
  if (shown === undefined)
    return (
      <Section id="records" title="Records" aside="none">
        <p class="muted">The contract has no resources whose records the sandbox keeps.</p>
      </Section>
    )
  const found = records.value
  const names = [...new Set([shown.id, ...found.flatMap((record) => Object.keys(record))])]
  return (
    <Section id="records" title="Records" aside={`${shown.records.toLocaleString('en')} ${shown.name}`}>
      <div class="row">
        <Field
          aria-label="Resource"
          value={shown.name}
          choices={resources.value.map(({ name }) => name)}
          choose={(name) => {
            resource.value = name
            records.value = []
            recordSearch.value = ''
            void showRecords()
          }}
        />
        <Field
          class="grow"
          type="search"
          aria-label={`Search ${shown.name}`}
          placeholder="id or text"
          value={recordSearch.value}
          choose={(text) => {
            recordSearch.value = text
            void showRecords()
          }}
        />
      </div>
      <ScrollBox label={`${shown.name}, newest first`}>
        <table>
          <thead>
            <tr>
              {names.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
              <th scope="col">
                <span class="hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {found.map((record) => (
              <RecordRow
                key={`${shown.name} ${pathOf(shown, record)}`}
                record={record}
                names={names}
                fields={fields}
                shown={shown}
              />
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {found.length < recordLimit.value || shown.records <= found.length ? null : (
        <div class="row">
          <span class="muted">The newest {found.length}.</span>
          <ActionButton act={() => showRecords(recordLimit.value + RECORDS_PER_PAGE)}>
            Show {RECORDS_PER_PAGE} more
          </ActionButton>
        </div>
      )}
      {found.length === 0 ? <p class="muted">{recordSearch.value === '' ? 'None.' : 'None found.'}</p> : null}
      {fields.length === 0 ? null : <AddForm shown={shown} fields={fields} />}
    </Section>
  )
}

function AddForm({ shown, fields }: { readonly shown: ResourceView; readonly fields: readonly RecordField[] }) {
  const parents = shown.parents.filter((name) => !fields.some((field) => field.name === name))
  async function add(field: ReadField): Promise<void> {
    const given = fields.flatMap((recordField) => {
      const text = field(recordField.name)
      return text === undefined ? [] : [[recordField.name, readValue(recordField, text)] as const]
    })
    const record = Object.fromEntries([...parents.map((name) => [name, field(name)] as const), ...given])
    const added = await call('records.add', { resource: shown.name, record })
    announce(`${shown.name}: ${String(added[shown.id])} is added.`)
  }
  return (
    <Form label={`Add to ${shown.name}`} send={add}>
      {parents.map((name) => (
        <Field key={name} label={name} name={name} required />
      ))}
      {fields.map(({ name, isRequired, choices }) => (
        <Field key={name} label={name} name={name} required={isRequired} {...(choices && { choices })} />
      ))}
      <button type="submit">Add</button>
    </Form>
  )
}

/** @throws Error for text that is not JSON */
function readValue({ name, isText }: Pick<RecordField, 'name' | 'isText'>, text: string): unknown {
  if (isText) return text
  try {
    return parseJson(text)
  } catch {
    throw new Error(`${name} must be JSON, such as 1, true or ["one"].`)
  }
}

/** `3/rex`, as the control plane names a nested record. */
function pathOf({ id, parents }: ResourceView, record: Readonly<Record<string, unknown>>): string {
  return [...parents.flatMap((name) => (name in record ? [record[name]] : [])), record[id]].map(String).join('/')
}

/** Texts come from clients: render them as text only. */
function RecordRow({
  record,
  names,
  fields,
  shown,
}: {
  readonly record: Readonly<Record<string, unknown>>
  readonly names: readonly string[]
  readonly fields: readonly RecordField[]
  readonly shown: ResourceView
}) {
  const id = pathOf(shown, record)
  const what = `${shown.name} ${id}`
  const change = (name: string, value: unknown) =>
    call('records.set', { resource: shown.name, id, change: { [name]: value } }, `${what} is changed.`)
  return (
    <tr>
      {names.map((name) => {
        const value = record[name]
        const text = typeof value === 'string' ? value : value === undefined ? '' : stringifyJson(value)
        const field = fields.find((recordField) => recordField.name === name)
        const label = `${name} of ${what}`
        return (
          <td key={name}>
            {field === undefined || name === shown.id ? (
              <span class="mono">{text}</span>
            ) : (
              <SavedField
                aria-label={label}
                value={text}
                {...(field.choices && { choices: field.choices })}
                save={async (given) => {
                  const isUnset = given === '' && (field.choices !== undefined || !field.isText)
                  return change(name, isUnset ? null : readValue(field, given))
                }}
              />
            )}
          </td>
        )
      })}
      <td>
        <ActionButton
          class="plain"
          label={`Remove ${what}`}
          act={() => call('records.remove', { resource: shown.name, id }, `${what} is removed.`)}
        >
          ×
        </ActionButton>
      </td>
    </tr>
  )
}

function SnapshotsSection() {
  const names = snapshots.value
  const removing = useSignal('')
  return (
    <Section id="snapshots" title="Snapshots" aside={names.length === 0 ? 'none' : names.length}>
      <ul class="rules">
        {names.map((name) => (
          <li key={name} class="row between">
            <span class="mono grow">{name}</span>
            <ActionButton
              label={`Restore ${name}`}
              act={() => call('snapshots.restore', { name }, `Restored ${name}.`)}
            >
              Restore
            </ActionButton>
            <button
              type="button"
              aria-label={`Remove ${name}`}
              aria-haspopup="dialog"
              onClick={() => (removing.value = name)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {removing.value === '' ? null : (
        <FormDialog
          label={`Remove the snapshot ${removing}?`}
          submit="Remove"
          submitStyle="danger"
          onClose={() => (removing.value = '')}
          send={() => call('snapshots.remove', { name: removing.value }, `The snapshot ${removing} is removed.`)}
        >
          <p>Remove the snapshot {removing}?</p>
        </FormDialog>
      )}
      <Form
        label="Save a snapshot"
        send={(field) => {
          const name = field('name') ?? ''
          return call('snapshots.save', { name }, `Saved as ${name}.`)
        }}
      >
        <Field label="Name" name="name" required class="grow" />
        <button type="submit">Save snapshot</button>
      </Form>
    </Section>
  )
}

function SpacesSection() {
  const all = spaces.value
  if (all.length === 0)
    return (
      <Section id="spaces" title="Spaces" aside="only the default one">
        <p class="muted">
          Any key with ~name appended, such as <span class="mono">sandbox~checkout</span>, opens a space: own records,
          quotas, clock and log.
        </p>
      </Section>
    )
  return (
    <Section id="spaces" title="Spaces" aside={all.length}>
      <ul class="rules">
        {all.map(({ name, records, requests }) => (
          <li key={name} class="row between">
            <span class="mono grow">{name}</span>
            <span class="muted">
              {recordsText(records)}, {counted(requests, 'request')}
            </span>
            {name === space.value ? (
              <span class="tag">shown</span>
            ) : (
              <button type="button" aria-label={`Show the space ${name}`} onClick={() => showSpace(name)}>
                Show
              </button>
            )}
            <ActionButton label={`Remove the space ${name}`} act={() => removeSpace(name)}>
              Remove
            </ActionButton>
          </li>
        ))}
      </ul>
    </Section>
  )
}
