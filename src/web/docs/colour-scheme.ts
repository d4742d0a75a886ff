/** Swagger UI goes by a class for its dark colours, not by what the reader's system prefers. */
export function followColourScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
}
