const SECTIONS = [
  ['traffic', 'Traffic'],
  ['keys', 'Keys'],
  ['storm', 'Storm'],
  ['faults', 'Faults'],
  ['limits', 'Limits'],
  ['scenarios', 'Scenarios'],
  ['pets', 'Pets'],
  ['conduct', 'Conduct'],
  ['snapshots', 'Snapshots'],
  ['spaces', 'Spaces'],
] as const

/** Links to the sections, for narrow screens where they are stacked. */
export function SectionLinks() {
  return (
    <nav class="sections" aria-label="Sections">
      {SECTIONS.map(([id, title]) => (
        <a
          key={id}
          href={`#${id}`}
          onClick={(event) => {
            // The address holds space and filter, not the place on the page.
            event.preventDefault()
            const section = document.getElementById(id)
            section?.scrollIntoView()
            section?.querySelector<HTMLElement>('summary, input')?.focus({ preventScroll: true })
          }}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}
