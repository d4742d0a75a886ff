import type { ErrorCode } from 'yaml'

const MISTAKES: { readonly [Code in ErrorCode]?: string } = {
  BAD_ALIAS: 'a value that begins with * must be in quotes',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes; use single quotes',
  BAD_INDENT: 'the indentation is wrong',
  BAD_SCALAR_START: 'a value that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon on one line; put the value in quotes',
  BLOCK_IN_FLOW: 'an indented block inside of brackets',
  DUPLICATE_KEY: 'the same name twice in one map',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after the name',
  MULTIPLE_DOCS: 'a second document begins here (---); only one can be read',
  TAB_AS_INDENT: 'a tab; indent with spaces',
  TAG_RESOLVE_FAILED: 'a value that begins with ! must be in quotes',
  UNEXPECTED_TOKEN: 'this is not expected here; a quote, bracket or line break may be missing before it',
}

export function yamlMistake({ code, message }: { readonly code: ErrorCode; readonly message: string }): string {
  if (message.includes('call stack')) return 'it is nested too deeply'
  const [, flow] = /^Flow (map|sequence) /.exec(message) ?? []
  if (flow !== undefined) return `a ${flow === 'map' ? '{' : '['} before it is not closed`
  return MISTAKES[code] ?? 'it cannot be understood from here on'
}
