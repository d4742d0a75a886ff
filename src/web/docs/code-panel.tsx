import { CopyButton } from '../dashboard/copy-button.js'

/** Code in the language of one's choice, to be copied. */
export function CodePanel({
  languages,
  language,
  choose,
  code,
}: {
  readonly languages: readonly string[]
  readonly language: string
  readonly code: string
  choose(language: string): void
}) {
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere */}
      <div class="row" role="group" aria-label="Language">
        {languages.map((name) => (
          <button type="button" key={name} aria-pressed={name === language} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
        <CopyButton text={code}>Copy</CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <pre class="code" tabIndex={0}>
        {code}
      </pre>
    </>
  )
}
