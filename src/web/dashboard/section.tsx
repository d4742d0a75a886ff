import type { ComponentChildren } from 'preact'

/** A collapsible part of the page. */
export function Section({
  id,
  title,
  aside,
  children,
}: {
  readonly id: string
  readonly title: string
  /** A few words beside the title that say how it is. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <details class="card" id={id} open>
      <summary>
        <h2>{title}</h2>
        <span class="aside">{aside}</span>
      </summary>
      <div class="body">{children}</div>
    </details>
  )
}
