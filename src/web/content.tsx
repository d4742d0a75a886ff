import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { readableBody } from './format.js'
import { Toggle } from './ui.js'

/** The body of a message; JSON is indented. */
export function Body({ text }: { readonly text: string }) {
  return text === '' ? null : <Pre>{readableBody(text)}</Pre>
}

function Pre({ children }: { readonly children: ComponentChildren }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
  return <pre tabIndex={0}>{children}</pre>
}

export function CodeBlock({ forms }: { readonly forms: Readonly<Record<string, () => string>> }) {
  const names = Object.keys(forms)
  const chosen = useSignal('')
  const language = names.includes(chosen.value) ? chosen.value : (names[0] ?? '')
  const code = forms[language]?.() ?? ''
  return (
    <>
      <Toggle label="Language" names={names} value={language} choose={(name) => (chosen.value = name)}>
        <CopyButton text={code} class="push">
          Copy
        </CopyButton>
      </Toggle>
      <Pre>{code}</Pre>
    </>
  )
}

interface TableProps {
  readonly head: readonly ComponentChildren[]
  /** The first cell of a row is its heading, which no other has. */
  readonly rows: readonly (readonly [heading: string, ...cells: ComponentChildren[]])[]
}

export function Table({ head, rows }: TableProps) {
  return (
    <table>
      <thead>
        <tr>
          {head.map((name, column) => (
            <th scope="col" key={column}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([heading, ...cells]) => (
          <tr key={heading}>
            <th scope="row" class="mono">
              {heading}
            </th>
            {cells.map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface CopyProps {
  readonly text: string
  readonly label?: string
  readonly class?: string
  readonly children: ComponentChildren
}

export function CopyButton({ text, label, class: style = '', children }: CopyProps) {
  const result = useSignal('')
  return (
    <>
      <button
        type="button"
        class={style}
        aria-label={label}
        title={label}
        onClick={async () => {
          result.value = await navigator.clipboard.writeText(text).then(
            () => 'Copied.',
            () => 'The browser does not allow copying here. Select the text below.',
          )
        }}
      >
        {children}
      </button>
      <span class="muted" role="status">
        {result}
      </span>
    </>
  )
}

/** Those of limits and of the sandbox come first. */
export function HeaderList({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const isUsual = (name: string) => !/^(?:x-ratelimit-|retry-after|x-sandbox)/.test(name)
  const names = Object.keys(headers).sort((a, b) => Number(isUsual(a)) - Number(isUsual(b)))
  if (names.length === 0) return null
  return (
    <details class="headers">
      <summary class="muted">{names.length} headers</summary>
      <dl>
        {names.map((name) => (
          <div key={name} class="row">
            <dt>{name}:</dt>
            <dd>{headers[name]}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
