/** What is wrong with a request, for where nothing else names its operation: `listPets: limit must be …`. */
export function operationMessage(operation: string, faults: readonly string[]): string {
  return `${operation}: ${faults.join('; ')}.`
}

/** A message for where its operation is named already. */
export function withoutOperation(operation: string | null | undefined, message: string): string {
  const said = `${operation}: `
  return message.startsWith(said) ? message.slice(said.length) : message
}
