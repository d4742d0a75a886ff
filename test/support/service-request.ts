import type { ServiceRequest } from '../../src/domain/messages.js'

/** A GET of listPets without a key, except for `parts`. */
export function serviceRequest(parts: Partial<ServiceRequest> = {}): ServiceRequest {
  return {
    method: 'GET',
    target: '/v1/pets',
    headers: {},
    rawHeaders: [],
    body: undefined,
    address: 'test',
    connection: 0,
    deliveredUpTo: 0,
    ...parts,
  }
}
