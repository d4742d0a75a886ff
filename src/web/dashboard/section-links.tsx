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

/** Ways to the sections, where they stand below each other. */
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
