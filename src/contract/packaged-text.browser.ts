/** Both forms were made when the package was built; they are loaded when somebody reads them. */
export async function packagedText(format: 'yaml' | 'json'): Promise<string> {
  return (await import('./generated/contract-text.js'))[format]
}
