import * as v from 'valibot'

// Of no use in a browser, where these options are refused before they are read.
export const redisAddressSchema: v.GenericSchema<unknown, string> = v.string()
export const groupSchema: v.GenericSchema<unknown, string> = v.string()
