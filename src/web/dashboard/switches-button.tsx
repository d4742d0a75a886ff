import { useRef, useState } from 'preact/hooks'
import type { SwitchesView } from '../../control/views.js'
import { callVerb } from './api.js'
import { ActionButton } from './controls.js'
import { CopyButton } from './copy-button.js'
import { saveFile } from './save-file.js'
import { useDashboard } from './session-context.js'

const FORMS = {
  scenario: { title: 'Scenario file', file: 'scenario.yaml' },
  flags: { title: 'Flags of serve', file: 'flags.txt' },
  test: { title: 'Vitest test', file: 'sandbox.test.ts' },
} as const

/** The present switches, to be taken along: what was found by hand goes into a test. */
export function SwitchesButton() {
  const space = useDashboard(({ space }) => space)
  const dialog = useRef<HTMLDialogElement>(null)
  const [switches, setSwitches] = useState<SwitchesView>()
  const [form, choose] = useState<keyof typeof FORMS>('scenario')
  const text = switches?.[form] ?? ''
  return (
    <>
      <ActionButton
        act={async () => {
          setSwitches(await callVerb('switches', space))
          dialog.current?.showModal()
        }}
      >
        Take along
      </ActionButton>
      <dialog ref={dialog} class="large" aria-label="The present switches">
        <h2>The present switches</h2>
        <div class="row">
          {(Object.keys(FORMS) as (keyof typeof FORMS)[]).map((name) => (
            <button type="button" key={name} aria-pressed={name === form} onClick={() => choose(name)}>
              {FORMS[name].title}
            </button>
          ))}
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
        <pre tabIndex={0}>{text}</pre>
        {switches === undefined || switches.untold.length === 0 ? null : (
          <p class="muted">Not in it, as no switch says it: {switches.untold.join(', ')}.</p>
        )}
        <div class="row end">
          <CopyButton text={text}>Copy</CopyButton>
          <button type="button" onClick={() => saveFile(FORMS[form].file, text)}>
            Save as {FORMS[form].file}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </dialog>
    </>
  )
}
