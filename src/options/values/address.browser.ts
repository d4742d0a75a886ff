import * as v from 'valibot'

// A browser refuses these options before they are read.
export const hostSchema: v.GenericSchema<unknown, string> = v.string()
export const baseUrlSchema: v.GenericSchema<unknown, string> = v.string()
export const tokenSchema: v.GenericSchema<unknown, string> = v.string()
export const redisAddressSchema: v.GenericSchema<unknown, string> = v.string()
export const groupSchema: v.GenericSchema<unknown, string> = v.string()

export function isLoopback(_host: string): boolean {
  return true
}
