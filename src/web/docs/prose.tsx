/** What a contract says in sentences: paragraphs, and `code` in them. It is text and nothing else, whatever it holds. */
export function Prose({ text }: { readonly text: string }) {
  if (text.trim() === '') return null
  return (
    <>
      {text
        .trim()
        .split(/\n\s*\n/)
        .map((paragraph, index) => (
          <p key={index} class="prose">
            {paragraph
              .split(/`([^`]+)`/)
              .map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}
          </p>
        ))}
    </>
  )
}
