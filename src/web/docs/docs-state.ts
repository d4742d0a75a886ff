import { signal } from '@preact/signals'
import type { StateView } from '../../control/views.js'
import { isSpaceName } from '../../domain/keys.js'
import { callVerb, SANDBOX_ADDRESS, servedContract } from '../control-api.js'
import { type ContractModel, readContract } from './contract-model.js'

/** From the address: `docs?space=name`. */
export const space = new URLSearchParams(location.search).get('space') ?? ''

export interface Served {
  readonly contract: ContractModel
  readonly state: StateView
  readonly baseUrl: string
}

export const served = signal<Served | undefined>(undefined)
export const provoke = signal<string | undefined>(undefined)
/** Without its space. */
export const chosenKey = signal('')

/** @throws TokenNeeded */
export async function readServed(): Promise<void> {
  const [document, state] = await Promise.all([servedContract(), readState()])
  served.value = {
    contract: readContract(document, state.operations.mocked),
    state,
    baseUrl: SANDBOX_ADDRESS + state.basePath,
  }
  chosenKey.value = usableKeys()[0]?.key ?? ''
}

export async function updateState(): Promise<void> {
  const state = await readState().catch(() => undefined)
  if (state !== undefined && served.value !== undefined) served.value = { ...served.value, state }
}

/** A space that is not open has the keys of the default space. */
async function readState(): Promise<StateView> {
  const spaces = space === '' ? [] : await callVerb('spaces.list', '')
  const isUnopened = isSpaceName(space) && !spaces.some(({ name }) => name === space)
  return callVerb('state', isUnopened ? '' : space)
}

export function usableKeys() {
  return served.value?.state.keys.filter(({ secret }) => !secret) ?? []
}

export function keyInSpace(key = chosenKey.value): string {
  return key === '' || space === '' ? key : `${key}~${space}`
}
