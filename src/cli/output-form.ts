import { Option } from 'commander'

export type OutputForm = 'text' | 'json'

export interface OutputFlags {
  readonly output?: OutputForm
  readonly json?: boolean
}

/** `-o json`; `--json` is its former name. */
export function outputOptions(): readonly Option[] {
  return [
    new Option('-o, --output <form>', 'how the result is printed').choices(['text', 'json']),
    new Option('--json', 'print JSON').hideHelp(),
  ]
}

export function wantsJson({ output, json = false }: OutputFlags): boolean {
  return json || output === 'json'
}
