/** The types that every entry of the package has. What only some have stands in those. */

export type {
  Conduct,
  ConductRule,
  Finding,
  PlanOutcome,
  ViolationRule,
  WarningRule,
  WhatIf,
} from '../conduct/conduct-view.js'
export type { ErrorBody, NewPet, Order, Pet, PetStatus } from '../contract/entities.js'
export type { Int64 } from '../contract/int64.js'
export type { OperationName } from '../contract/open.js'
export type { RequestFilter, SettingsPatch } from '../control/verb-map.js'
export type { ClockView, FaultView, KeyView, SpaceView, StateView, StormView, WindowState } from '../control/views.js'
export type { DurationText } from '../domain/time.js'
export type { Exchange, ExchangeMessage } from '../exchanges/exchange-view.js'
export type { ScenarioContent, ScenarioName, StormOption } from '../options/options.js'
export type { SettingsView } from '../options/settings-view.js'
export type { Controls, KeyKind, KeyNames, SandboxControls, Space } from './controls.js'
export type { SandboxRequestInit, SocketlessSandbox } from './sandbox.js'
