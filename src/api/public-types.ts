/** The types that every entry of the package exports. */

export type {
  Conduct,
  ConductRule,
  Finding,
  NoteRule,
  PlanOutcome,
  ViolationRule,
  WarningRule,
  WhatIf,
} from '../conduct/conduct-view.js'
export type { OperationName } from '../contract/entities.js'
export type * from '../contract/generated/entities.js'
export type { Int64 } from '../contract/int64.js'
export type {
  HandledRequest,
  HandledResponse,
  HandledTypes,
  HandlerRecords,
  OperationHandler,
  RecordKey,
} from '../control/handlers.js'
export type {
  ClockView,
  FaultView,
  KeyView,
  ResourceView,
  SpaceView,
  StateView,
  StormView,
  WindowState,
} from '../control/views.js'
export type { DurationText } from '../domain/time.js'
export type { Exchange, ExchangeMessage } from '../exchanges/exchange-record.js'
export type { ScenarioContent, ScenarioName, SettingsPatch, SettingsView, StormOption } from '../options/options.js'
export type {
  ConnectedSandbox,
  ConnectedSpace,
  Controls,
  KeyKind,
  KeyNames,
  RecordControls,
  SandboxControls,
  SandboxRequestInit,
  SocketlessSandbox,
  SocketlessSpace,
  Space,
  SpaceControls,
} from './controls.js'
export type { FakeTimers, RequestFilter, WaitOptions } from './inputs.js'
