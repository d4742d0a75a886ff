export { connectSandbox } from './api/connect.js'
export {
  ControlError,
  type Controls,
  type KeyKind,
  type KeyNames,
  type SandboxControls,
  type Space,
} from './api/controls.js'
export type { NetworkOptions } from './api/over-network.js'
export type { Sandbox, SandboxRequestInit, SocketlessSandbox } from './api/sandbox.js'
export { createSandbox, startSandbox } from './api/start.js'
export type {
  Conduct,
  ConductRule,
  Finding,
  PlanOutcome,
  ViolationRule,
  WarningRule,
  WhatIf,
} from './conduct/conduct-view.js'
export type { ErrorBody, NewPet, Order, Pet, PetStatus } from './contract/entities.js'
export type { Int64 } from './contract/int64.js'
export type { OperationName } from './contract/open.js'
export type { RequestFilter, SettingsPatch } from './control/verb-map.js'
export type {
  ClockView,
  FaultView,
  KeyView,
  ReplicaView,
  SpaceView,
  StateView,
  StormView,
  WindowState,
} from './control/views.js'
export type { DurationText } from './domain/time.js'
export type { BreachRule } from './drift/exchange.js'
export type { Drift, DriftFinding } from './drift/ledger.js'
export type { Exchange, ExchangeMessage } from './exchanges/exchange-view.js'
export type { SandboxOptions, ScenarioContent, ScenarioName, StormOption } from './options/options.js'
export { OptionsError } from './options/options-error.js'
export type { SettingsView } from './options/settings-view.js'
