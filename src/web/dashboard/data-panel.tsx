import { useMemo } from 'preact/hooks'
import { stringifyJson } from '../../contract/json.js'
import type { ResourceView } from '../../control/views.js'
import { counted, recordsText } from '../../domain/numbers.js'
import { CopyButton, Table } from '../content.js'
import { Field, Form, type ReadField } from '../ui.js'
import { call, removeSpace } from './actions.js'
import { ActionButton, SavedField, Section } from './fields.js'
import { type RecordField, recordFields } from './record-fields.js'
import { announce, showRecords, showSpace } from './session.js'
import * as view from './state.js'

export function DataPanel() {
  return (
    <>
      <RecordsSection />
      <SnapshotsSection />
      <SpacesSection />
    </>
  )
}

/** Where the records are, of all spaces or of the default one. */
function Place() {
  const { store = null, isReplica = false } = view.state.value?.process ?? {}
  const file = view.space.value === '' ? store : null
  const kept = isReplica
    ? 'Redis, for all replicas, and stay'
    : file === null
      ? 'memory, and are gone'
      : 'a file, and stay'
  return (
    <>
      <p class="muted">These records are in {kept} when the sandbox stops.</p>
      {file === null ? null : (
        <p class="row">
          <span class="mono grow">{file}</span>
          <CopyButton text={file}>Copy the path</CopyButton>
          <a href={`vscode://file${encodeURI(file)}`} title="Stop the sandbox before you edit it">
            Open in VS Code
          </a>
        </p>
      )}
    </>
  )
}

/** `60 pets` */
const countOf = ({ name, records }: ResourceView) => `${records.toLocaleString('en')} ${name}`

function RecordsSection() {
  const { resources, records, recordSearch, recordLimit, contract, RECORDS_PER_PAGE } = view
  const shown = resources.value.find(({ name }) => name === view.resource.value) ?? resources.value[0]
  const { path = '', envelope = '' } = shown ?? {}
  const fields = useMemo(() => recordFields(contract.value, path, envelope), [contract.value, path, envelope])
  if (shown === undefined)
    return (
      <Section id="records" title="Records" aside="none">
        <p class="muted">The contract has no resources whose records the sandbox keeps.</p>
      </Section>
    )
  const found = records.value
  const names = [...new Set(found.flatMap((record) => Object.keys(record)))].filter((name) => name !== shown.id)
  const show = (name: string, search: string) => {
    view.resource.value = name
    if (name !== shown.name) records.value = []
    recordSearch.value = search
    void showRecords()
  }
  const label = `${shown.name}, newest first`
  return (
    <Section id="records" title="Records" aside={resources.value.map(countOf).join(', ')}>
      <Place />
      <div class="row">
        <Field
          aria-label="Resource"
          value={shown.name}
          choices={resources.value.map((resource) => [resource.name, countOf(resource)] as const)}
          choose={(name) => show(name, '')}
        />
        <Field
          class="grow"
          type="search"
          aria-label={`Search ${shown.name}`}
          placeholder="id or text"
          value={recordSearch.value}
          choose={(text) => show(shown.name, text)}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <section class="tablebox" aria-label={label} tabIndex={0}>
        <Table
          head={[shown.id, ...names, <span class="hidden">Remove</span>]}
          rows={found.map((record) => recordCells(record, names, fields, shown))}
        />
      </section>
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
    const names = [...parents, ...fields.map(({ name }) => name)]
    const record = Object.fromEntries(names.map((name) => [name, field(name)]))
    const added = await call('records.add', { resource: shown.name, record, asText: true })
    announce(`${shown.name}: ${String(added[shown.id])} is added.`)
  }
  return (
    <Form label={`Add to ${shown.name}`} send={add}>
      {parents.map((name) => (
        <Field key={name} label={name} name={name} required />
      ))}
      {fields.map(({ name, isRequired, choices }) => (
        <Field key={name} label={name} name={name} required={isRequired} choices={choices} />
      ))}
      <button type="submit">Add</button>
    </Form>
  )
}

/** Texts come from clients: render them as text only. */
function recordCells(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
  fields: readonly RecordField[],
  { name: resource, id: property, parents }: ResourceView,
) {
  // `3/rex`, as the control plane names a nested record.
  const id = [...parents.filter((name) => name in record), property].map((name) => String(record[name])).join('/')
  const what = `${resource} ${id}`
  const cells = names.map((name) => {
    const value = record[name]
    const text = typeof value === 'string' ? value : value === undefined ? '' : stringifyJson(value)
    const field = fields.find((recordField) => recordField.name === name)
    if (field === undefined) return <span class="mono">{text}</span>
    const save = (given: string) =>
      call('records.set', { resource, id, change: { [name]: given }, asText: true }, `${what} is changed.`)
    return <SavedField aria-label={`${name} of ${what}`} value={text} choices={field.choices} save={save} />
  })
  const remove = () => call('records.remove', { resource, id }, `${what} is removed.`)
  return [
    id,
    ...cells,
    <ActionButton class="plain" label={`Remove ${what}`} act={remove}>
      ×
    </ActionButton>,
  ] as const
}

function SnapshotsSection() {
  const names = view.snapshots.value.map(({ name }) => name)
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
            <ActionButton
              label={`Remove ${name}`}
              act={() => call('snapshots.remove', { name }, `The snapshot ${name} is removed.`)}
            >
              Remove
            </ActionButton>
          </li>
        ))}
      </ul>
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
  const all = view.spaces.value
  return (
    <Section id="spaces" title="Spaces" aside={all.length === 0 ? 'only the default one' : all.length}>
      <p class="muted">
        Any key with ~name appended, such as <span class="mono">sandbox~checkout</span>, opens a space: own records,
        quotas, clock and log.
      </p>
      <ul class="rules">
        {all.map(({ name, records, requests }) => (
          <li key={name} class="row between">
            <span class="mono grow">{name}</span>
            <span class="muted">
              {recordsText(records)}, {counted(requests, 'request')}
            </span>
            {name === view.space.value ? (
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
