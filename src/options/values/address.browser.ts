import * as v from 'valibot'

// Of no use in a browser, where these options are refused before they are read.
export const hostSchema: v.GenericSchema<unknown, string> = v.string()
export const baseUrlSchema: v.GenericSchema<unknown, string> = v.string()
export const tokenSchema: v.GenericSchema<unknown, string> = v.string()

export function isLoopback(_host: string): boolean {
  return true
}
