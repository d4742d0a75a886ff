import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** Puts a text on the clipboard, where the browser allows it. */
export function CopyButton({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
  const [said, setSaid] = useState('')
  return (
    <>
      <button
        type="button"
        onClick={async () => {
          try {
            await navigator.clipboard.writeText(text)
            setSaid('Copied.')
          } catch {
            setSaid('The browser does not allow it here; select the text below.')
          }
        }}
      >
        {children}
      </button>
      <span class="muted" role="status">
        {said}
      </span>
    </>
  )
}
